// Hidden characters in requests to a real platform: each is taken or refused, and none is an internal error.
import { documents, type JsonMap } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../../platform/http/route.js'
import { routes } from '../../../platform/routes.js'
import { textMembers } from '../../support/engine/text-members.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform({ env: { SVC_RATE_LIMIT_ADDRESS: '0' } })
})
afterAll(() => discard(platform))

/** A copy of the value with the text at the path; members on the way are made where they are missing. */
function withText(value: unknown, [key, ...rest]: readonly string[], text: string): unknown {
  if (key === undefined) return text
  if (key === '*') return [withText(Array.isArray(value) ? value[0] : undefined, rest, text)]
  const map = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  return { ...map, [key]: withText((map as JsonMap)[key], rest, text) }
}

const endpoints = (routes as readonly Endpoint[]).flatMap(({ method, path, body, access }) =>
  body === undefined
    ? []
    : [{ method, path, body, as: access.kinds.includes('key') ? ('key' as const) : ('operator' as const) }],
)
/** Where requests hold data of agents that the schemas do not describe. */
const payloads = ['input', 'output', 'properties', 'meta', 'attributes', 'params', 'data']
const inside = payloads.flatMap((member) =>
  [[], ['entries', '*'], ['steps', '*'], ['intended']].map((at) => [...at, member]),
)

describe('a request with a hidden character', () => {
  it.each(endpoints.map((one) => [`${one.method} ${one.path}`, one] as const))(
    'is taken or refused, never an internal error: %s',
    async (_, { method, path, body: name, as }) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, '1')
      const [example = {}] = (documents[name] as { examples?: readonly unknown[] }).examples ?? []
      const wrong = [
        ...textMembers(name).map((member) => withText(example, member.path, 'a\0b')),
        ...inside.flatMap((at) => ['k\0', 'k\ud800'].map((text) => withText(example, [...at, text], text))),
      ]
      for (const body of wrong) {
        const { status, body: answer } = await platform.call(method.toUpperCase(), filled, { as, body })
        expect([body, status < 500 ? 'answered' : answer]).toEqual([body, 'answered'])
      }
    },
  )
})

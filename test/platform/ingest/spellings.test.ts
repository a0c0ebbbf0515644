// Steps in several spellings (test/cases/spellings.yaml), through every door: wherever one is accepted, it violates the same policies.
import { readFileSync } from 'node:fs'
import type { JsonMap, LogDetail } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { assign } from '../../support/http/assign.js'
import { type Door, engineDoors, fileDoors, platformDoors } from '../../support/http/doors.js'
import { fast } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { detailsOf } from '../../support/spans/span-steps.js'

interface Spelling {
  readonly name: string
  readonly step: JsonMap
  readonly violates: readonly string[]
  /** The doors that answer with an error, which contains `names`. */
  readonly rejected?: readonly string[]
  readonly names?: string
}

interface Spellings {
  readonly policies: readonly JsonMap[]
  readonly cases: readonly Spelling[]
  readonly flags: readonly { readonly name: string; readonly entry: JsonMap; readonly names: string }[]
  readonly agents: readonly { readonly name: string; readonly agent: JsonMap; readonly names: string }[]
}

const text = readFileSync(new URL('../../cases/spellings.yaml', import.meta.url), 'utf8')
const { policies, cases, flags, agents } = parse(text) as Spellings
const scoped = policies.map((policy) => ({ severity: 'low', scope: 'step_execution', ...policy }))
const manifest = JSON.stringify({ name: 'Spellings', version: '1', policies: scoped })

let platform: TestPlatform
let serve: Serve
let doors: Readonly<Record<string, Door>>
beforeAll(async () => {
  serve = await startServe(['--policy-file', 'p.yaml'], { 'p.yaml': manifest })
  const started = await startPlatform({ env: fast })
  const { body } = await started.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'desk' } })
  const agent_id = String(body.agent_id)
  platform = await assign(started, agent_id, manifest)
  doors = { ...fileDoors(manifest), ...engineDoors(serve), ...platformDoors(platform, agent_id) }
})
afterAll(async () => {
  await serve.discard()
  await discard(platform)
})

describe('a step', () => {
  it.each(cases)(
    '$name is evaluated alike at every door',
    async ({ name, step, violates, rejected = [], names = '' }) => {
      for (const [door, send] of Object.entries(doors)) {
        const answer = await send(step, `${door} ${name}`)
        if (!rejected.includes(door)) expect([door, answer]).toEqual([door, { violates }])
        else expect([door, 'problem' in answer && answer.problem]).toEqual([door, expect.stringContaining(names)])
      }
    },
  )

  it('is stored as it was sent', async () => {
    const [stored] = await detailsOf(platform, 'logs capitals')
    expect(stored).toMatchObject({ step_type: 'STEP.EXEC', record: { step_type: 'STEP.EXEC' } } satisfies JsonMap)
    const { body } = await platform.call<{ logs: LogDetail[] }>('GET', '/api/v1/logs?step_type=STEP.EXEC')
    expect(body.logs.length).toBeGreaterThan(0)
  })
})

describe('a member of another type', () => {
  it.each(flags)('$name is rejected by name', async ({ name, entry, names }) => {
    for (const door of ['logs', 'batch', 'lines', 'trace'])
      expect([door, await doors[door]?.({ step_type: 'step.exec', ...entry }, `${door} ${name}`)]).toEqual([
        door,
        { problem: expect.stringContaining(names) },
      ])
  })

  it.each(agents)('$name is rejected by name', async ({ agent, names }) => {
    const body = { agent_key: 'other', ...agent }
    for (const { status, body: problem } of [
      await platform.call('POST', '/api/v1/agents', { as: 'key', body }),
      await serve.post('/register_agent', body),
    ])
      expect([status, JSON.stringify(problem)]).toEqual([expect.any(Number), expect.stringContaining(names)])
  })
})

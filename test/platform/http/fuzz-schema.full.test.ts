// Fuzzing with values from, close to and against the schema of every endpoint: no 5xx, no stack trace, an answer in time, and
// every answer matches the published document.
import type { ApiKey, IncidentList, MadeAssignment, Repository } from '@svc/schemas'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MockGithub, startGithub } from '../../support/git/github.js'
import { refunds } from '../../support/git/manifests-in-git.js'
import { hostile, nearly, type Schema, validFor } from '../../support/http/from-schema.js'
import { checkpointOf, fast, logSteps } from '../../support/log/log.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { type SignedIn, signedIn } from '../../support/people/people.js'
import { hangMs } from '../../support/server/hang.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const runs = Number(process.env.SVC_FUZZ_CALLS ?? 10)

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

let mails: MailServer
let github: MockGithub
let platform: TestPlatform
let person: SignedIn
let paths: Record<string, Record<string, Operation>>
let schemas: Record<string, Schema>
/** Ids that exist. */
const known: Record<string, string[]> = {}
let slowest = 0

beforeAll(async () => {
  mails = await startMailServer()
  const unlimited = { SVC_RATE_LIMIT_ADDRESS: '0', SVC_RATE_LIMIT_MAILBOX: '0' }
  github = await startGithub()
  github.add('acme', 'policies').commit({ 'refunds.yaml': refunds([{ name: 'one' }]) })
  const env = { ...fast, ...unlimited, SVC_SMTP_URL: mails.url, SVC_GITHUB_API_URL: github.url }
  platform = await startPlatform({ env })
  person = await signedIn(platform, mails, 'person@example.org')
  const other = await signedIn(platform, mails, 'other@example.org')
  await person.call('POST', `/auth/workspaces/${person.org_id}/promote`, { name: 'Acme' })
  const agent = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', {
    as: 'key',
    body: { agent_key: 'a', risk_classification: 'high' },
  })
  const { results } = await logSteps(platform, 'task', 20)
  await checkpointOf(platform, 20)
  const source = { owner: 'acme', name: 'policies' }
  const repo = await platform.call<Repository>('POST', '/api/v1/repos', { body: source })
  const chosen = { agent_id: agent.body.agent_id, repo_id: repo.body.id, manifest_path: 'refunds.yaml' }
  const made = await platform.call<MadeAssignment>('POST', '/api/v1/assignments', { body: chosen })
  const spare = await platform.call<{ api_key: ApiKey }>('POST', '/auth/api-keys', { body: { name: 'spare' } })
  const hold = await platform.call<{ id: string }>('POST', '/api/v1/holds', { body: { task_id: 'none', reason: 'x' } })
  const { incidents } = (await platform.call<IncidentList>('GET', '/api/v1/incidents')).body
  Object.assign(known, {
    agent_id: [agent.body.agent_id],
    task_id: ['task'],
    org_id: [person.org_id],
    person_id: [other.id],
    log_id: results.map(({ entry }) => entry?.log_id),
    key_id: [spare.body.api_key?.id],
    hold_id: [hold.body.id],
    incidents: incidents.map(({ id }) => id),
    repos: [String(repo.body.id), '1'],
    assignments: [String(made.body.id), '1'],
    policies: ['1', String(made.body.policies[0]?.id)],
  })
  const document = (await (await fetch(`${platform.url}/openapi.json`)).json()) as {
    paths: typeof paths
    components: { schemas: typeof schemas }
  }
  ;({
    paths,
    components: { schemas },
  } = document)
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
  await github.close()
})

const resolve = (ref: string): Schema => schemas[ref.split('/').at(-1) ?? ''] ?? {}

/** A request of the operation, with `wrong` applied to its parts. */
function requestOf(
  path: string,
  { parameters = [], requestBody }: Operation,
  wrong: (of: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>,
) {
  const places = [...path.matchAll(/(\w+)\/\{(\w+)\}/g)].map(([, noun = '', name = '']) => [name, noun] as const)
  const inPath = fc.record(
    Object.fromEntries(
      places.map(([name, noun]) => {
        const ids = (known[name] ?? known[noun])?.filter((id) => typeof id === 'string') ?? []
        return [name, ids.length > 0 ? wrong(fc.constantFrom<unknown>(...ids)) : wrong(fc.string({ minLength: 1 }))]
      }),
    ),
  )
  const asked = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, schema }) => [name, wrong(validFor(schema, resolve))])
  const inQuery = fc.record(Object.fromEntries(asked) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] })
  const schema = requestBody?.content['application/json']?.schema
  const body = schema === undefined ? fc.constant(undefined) : wrong(validFor(schema, resolve))
  return fc.record({ inPath, inQuery, body })
}

const textOf = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'x')
  return (text.isWellFormed() ? text : text.toWellFormed()).slice(0, 2000) || 'x'
}

describe('an endpoint', () => {
  it.each([
    ['values that its schema allows', (one: fc.Arbitrary<unknown>) => one],
    ['values that its schema nearly allows', nearly],
    [
      'hostile values',
      (one: fc.Arbitrary<unknown>) => fc.oneof({ weight: 1, arbitrary: one }, { weight: 3, arbitrary: hostile }),
    ],
  ] as const)('answers %s without an internal error', async (_, wrong) => {
    const statuses: Record<number, number> = {}
    for (const [path, operations] of Object.entries(paths))
      for (const [method, operation] of Object.entries(operations)) {
        // These end the credentials of the other requests.
        const mine = ['/auth/logout', '/auth/workspaces/{org_id}/leave'].includes(path) ? [] : [person.token]
        const asker = fc.constantFrom(platform.api_key, platform.operator_token, ...mine)
        await fc.assert(
          fc.asyncProperty(asker, requestOf(path, operation, wrong), async (as, { inPath, inQuery, body }) => {
            const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
              // A URL cannot hold a segment of one or two dots: it would name another endpoint.
              encodeURIComponent(textOf(inPath[name])).replace(/^\.{1,2}$/, '_'),
            )
            const query = new URLSearchParams(
              Object.entries(inQuery).map(([name, value]): [string, string] => [name, textOf(value)]),
            )
            const started = performance.now()
            // Throws when the answer does not match the document.
            const answer = await platform.call(method.toUpperCase(), `${filled}?${query}`, {
              as,
              ...(body !== undefined && { raw: JSON.stringify(body) ?? 'null' }),
            })
            const took = performance.now() - started
            statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
            slowest = Math.max(slowest, took)
            const isEarly = path === '/api/v1/log/bundle' && String(answer.body.detail).includes('is not signed yet')
            expect([answer.status < 500 || isEarly, took < hangMs, answer.body]).toEqual([true, true, answer.body])
            expect(JSON.stringify(answer.body) ?? '').not.toMatch(
              /node_modules|\bat [A-Z]\w+\.|DatabaseError|syntax error at/,
            )
          }),
          { numRuns: runs },
        )
      }
    console.log(`answers by status: ${JSON.stringify(statuses)}; the slowest took ${slowest.toFixed(0)} ms`)
    expect(statuses[200]).toBeGreaterThan(0)
  })

  it('leaves the credentials of the callers valid', async () => {
    expect((await person.me()).id).toBe(person.id)
    expect((await platform.call('GET', '/api/v1/agents')).status).toBe(200)
  })
})

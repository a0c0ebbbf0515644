// Fuzzing of every endpoint with samples and mutations of them: no 5xx, no stack trace.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MockGithub, startGithub } from '../../support/git/github.js'
import { refunds } from '../../support/git/manifests-in-git.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let mails: MailServer
let github: MockGithub
let person: SignedIn
let platform: TestPlatform
let paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>
beforeAll(async () => {
  mails = await startMailServer()
  github = await startGithub()
  github.add('acme', 'policies').commit({ 'refunds.yaml': refunds([{ name: 'one' }]) })
  platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url, SVC_GITHUB_API_URL: github.url } })
  person = await signedIn(platform, mails, 'person@example.org')
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
  await platform.call('POST', '/api/v1/repos', { body: { owner: 'acme', name: 'policies' } })
  paths = ((await (await fetch(`${platform.url}/openapi.json`)).json()) as { paths: typeof paths }).paths
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
  await github.close()
})

const ids = ['1', '2', '3', '0', '999999999999999', '9223372036854775808']
const hostile = fc.oneof(
  fc.constantFrom(...ids),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '../..',
    "' or 1=1 --",
    '%',
    '💥',
    '__proto__',
    '-1',
    '1e400',
    'null',
    '9007199254740993',
    'a'.repeat(5000),
    '{{7*7}}',
    '\u202e',
    '🏴\u{e0067}',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
)
const sample = {
  agent_key: 'a',
  task_id: 't',
  step: 1,
  step_type: 'START_NODE',
  timestamp: '2026-01-05T09:00:00Z',
  verb: 'POST',
  input: { a: 1 },
  properties: { target: { trust: 'external' } },
  note: 'x',
  reason: 'y',
  email: 'a@example.org',
  name: 'x',
  token: 'x'.repeat(43),
  kind: 'invitation',
  entries: [{ task_id: 't' }],
  steps: [{ task_id: 't', step_type: 'task.start' }],
  gaps: [{ gap_id: 'g', steps: 1 }],
  intended: { step_type: 'step.exec' },
  context: { agent_id: 'a', task_id: 't' },
  declared_tools: ['x'],
  agent_id: 'ag_x',
  repo_id: 2,
  manifest_path: 'refunds.yaml',
  manifest_sha: 'a'.repeat(40),
  pin: 'task',
  owner: 'acme',
  branch: 'main',
  url: 'http://127.0.0.1:9/a/b',
}
const value = fc.oneof(hostile, fc.jsonValue({ maxDepth: 3 }), fc.integer(), fc.constant(null))
/** The sample without some members and with others replaced by arbitrary values. */
const body = fc
  .tuple(
    fc.subarray(Object.keys(sample)),
    fc.dictionary(fc.oneof(fc.constantFrom(...Object.keys(sample)), hostile), value, { maxKeys: 4 }),
  )
  .map(([kept, changed]) => ({
    ...Object.fromEntries(kept.map((key) => [key, sample[key as keyof typeof sample]])),
    ...changed,
  }))

const safe = async (method: string, path: string, as: string, raw?: string) => {
  const response = await fetch(platform.url + path, {
    method,
    redirect: 'manual',
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    ...(raw !== undefined && { body: raw }),
  })
  const text = await response.text()
  expect({ method, path, raw, status: response.status >= 500 }).toEqual({ method, path, raw, status: false })
  expect(text).not.toMatch(/node_modules|\bat [A-Z]\w+\.|DatabaseError|syntax error at/)
}

describe('an arbitrary request', () => {
  it('is never answered with 5xx', async () => {
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { parameters = [] }] of Object.entries(operations)) {
        const own = path === '/auth/logout' ? [] : [person.token]
        const tokens = [platform.api_key, platform.operator_token, ...own]
        const names = parameters.filter((parameter) => parameter.in === 'query').map((parameter) => parameter.name)
        await fc.assert(
          fc.asyncProperty(
            fc.constantFrom(...tokens),
            hostile,
            fc.dictionary(names.length > 0 ? fc.constantFrom(...names) : hostile, hostile, { maxKeys: 3 }),
            body,
            async (as, name, query, sent) => {
              const filled = path.replaceAll(/\{\w+\}/g, encodeURIComponent(name.isWellFormed() ? name : 'x'))
              const search = new URLSearchParams(Object.entries(query)).toString()
              await safe(
                method.toUpperCase(),
                `${filled}?${search}`,
                as,
                ['post', 'patch'].includes(method) ? JSON.stringify(sent) : undefined,
              )
            },
          ),
          { numRuns: path.startsWith('/auth') ? 30 : 60 },
        )
      }
    }
  })

  it('is never answered with 5xx when its body is nearly JSON', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          '/api/v1/agents',
          '/api/v1/logs',
          '/api/v1/logs/batch',
          '/api/v1/traces',
          '/api/v1/engine/evaluate',
        ),
        fc.string({ unit: 'binary', maxLength: 200 }),
        (path, raw) => safe('POST', path, platform.api_key, raw),
      ),
      { numRuns: 200 },
    )
  })
})

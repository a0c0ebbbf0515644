// The steps of a task as its timeline shows them: violations with their incidents, outcomes, pages, and steps that were erased.
import type { IncidentList, Problem, RegisteredAgent, TaskTimeline } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SentPolicy } from '../../support/engine/changing-source.js'
import { givePolicies } from '../../support/http/own-policies.js'
import { startMailServer } from '../../support/people/mail.js'
import { signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
const now = Date.parse('2026-01-05T12:00:00Z')

const onPay = { target_step_names: ['pay'] }
const policies = [
  {
    name: 'approved',
    rule_type: 'field_in_list',
    params: { field: 'input.to', values: ['landlord'], ...onPay },
    severity: 'critical',
    approval: { check_type: 'human_approval' },
  },
  { name: 'reason', rule_type: 'field_not_empty', params: { field: 'input.reason', ...onPay }, severity: 'critical' },
  {
    name: 'observed',
    rule_type: 'field_not_empty',
    params: { field: 'input.note', target_step_names: ['look'] },
    severity: 'critical',
    mode: 'observe',
  },
  {
    name: 'waived',
    rule_type: 'field_not_empty',
    params: { field: 'input.subject', target_step_names: ['mail'] },
    severity: 'critical',
  },
  {
    name: 'whole task',
    rule_type: 'execution_max_tool_calls',
    params: { max_calls: 2, node_type: 'step.resource' },
    severity: 'critical',
    scope: 'task_execution',
  },
] as unknown as readonly SentPolicy[]

const act = (step_name: string, input: object, more: object = {}) => ({
  step_type: 'step.resource',
  verb: 'POST',
  step_name,
  input,
  ...more,
})
const steps = [
  { step_type: 'START_NODE' },
  act('pay', { to: 'landlord', reason: 'rent' }),
  act('pay', { to: 'plumber', reason: 'repair' }, { output: { status: 'blocked' } }),
  act('pay', { to: 'plumber' }),
  { step_type: 'LLM_CALL', verb: 'POST' },
  act('look', {}),
  act('mail', {}),
  { step_type: 'task.end' },
]

describe.skipIf(postgres === null)('the timeline of a task', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let mails: Awaited<ReturnType<typeof startMailServer>>
  let platform: TestPlatform
  const log = async (task_id: string, sent: readonly object[]) => {
    const entries = sent.map((step, index) => ({
      task_id,
      step: index + 1,
      timestamp: '2026-01-05T09:00:00Z',
      ...step,
    }))
    const { status, body } = await platform.call('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
    expect([status, body]).toEqual([200, expect.anything()])
  }
  beforeAll(async () => {
    mails = await startMailServer()
    platform = await startPlatform({ database_url: url, clock: () => now, env: { SVC_SMTP_URL: mails.url } })
    const agent = { agent_key: 'desk', owner_id: 'o', purpose: 'p' }
    const { agent_id } = (await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body: agent }))
      .body
    platform = await givePolicies(platform, new Map([[agent_id, policies]]))
    postgres.psql(
      url,
      `update policies set waived_until = '2026-02-01' where name = 'waived'; update org_log set config_version = config_version + 1`,
    )
    await log('t', steps)
    await log(
      'long',
      Array.from({ length: 25 }, (_, index) =>
        index % 2 === 0 ? act('look', index % 4 === 0 ? {} : { note: 'n' }) : { step_type: 'step.model', verb: 'POST' },
      ),
    )
  })
  afterAll(async () => {
    await discard(platform)
    await mails.close()
  })

  const timeline = async (task_id: string, query = '') => {
    const path = `/api/v1/tasks/${task_id}/steps?${query}`
    const { status, body } = await platform.call<TaskTimeline & Problem>('GET', path)
    expect([status, body]).toEqual([200, expect.anything()])
    return body
  }
  const numbers = ({ steps }: TaskTimeline) => steps.map(({ step }) => step)

  it('has every step with its outcome, its effect and its violations', async () => {
    const { task, steps, received, ...counts } = await timeline('t')
    const at = new Date(now).toISOString()
    expect(received).toEqual({ first: at, last: at, last_log_index: steps.at(-1)?.log_index })
    expect(task).toMatchObject({ task_id: 't', step_count: 8, status: 'completed', violations: 6 })
    expect(counts).toEqual({ total: 8, violating: 5, previous_cursor: null, next_cursor: null })
    expect(
      steps.map(({ outcome, effect, violations }) => [outcome, effect, violations.map(({ name }) => name)]),
    ).toEqual([
      ['allow', 'executed', []],
      ['allow', 'executed', []],
      ['ask', 'blocked', ['approved']],
      ['block', 'executed', ['approved', 'reason']],
      ['allow', 'executed', []],
      ['warn', 'executed', ['observed']],
      ['warn', 'executed', ['waived']],
      ['warn', 'executed', ['whole task']],
    ])
  })

  it('names the incident that counts each violation, and the effect there', async () => {
    const { incidents } = (await platform.call<IncidentList>('GET', '/api/v1/incidents?task_id=t')).body
    const idOf = (name: string) => incidents.find(({ policy_name }) => policy_name === name)?.id
    const { steps } = await timeline('t', 'violating=true')
    const found = steps.flatMap(({ step, violations }) =>
      violations.map(({ name, incident_id, effect }) => [step, name, incident_id, effect]),
    )
    expect(found).toEqual([
      [3, 'approved', idOf('approved'), 'blocked'],
      [4, 'approved', idOf('approved'), 'executed'],
      [4, 'reason', idOf('reason'), 'executed'],
      [6, 'observed', idOf('observed'), 'executed'],
      [7, 'waived', null, null],
      [8, 'whole task', idOf('whole task'), 'executed'],
    ])
    expect(idOf('approved')).toMatch(/^inc_/)
  })

  it.each([
    ['violating=true', [3, 4, 6, 7, 8]],
    ['violating=false', [1, 2, 5]],
    ['kind=tool', [2, 3, 4, 6, 7]],
    ['kind=tool&violating=true', [3, 4, 6, 7]],
    ['kind=tool&violating=false', [2]],
  ])('is filtered, and the filtered steps are counted: %s', async (query, expected) => {
    const found = await timeline('t', query)
    expect([numbers(found), found.total, found.violating]).toEqual([expected, expected.length, 5])
  })

  it.each(['', 'violating=true', 'kind=tool', 'violating=false&kind=tool'])(
    'has pages forwards and backwards that neither repeat nor skip steps: %s',
    async (filter) => {
      const all = numbers(await timeline('long', filter))
      const pages: number[][] = []
      let page = await timeline('long', `${filter}&limit=3`)
      for (;;) {
        pages.push(numbers(page))
        if (page.next_cursor === null) break
        page = await timeline('long', `${filter}&limit=3&cursor=${page.next_cursor}`)
      }
      expect(pages.flat()).toEqual(all)
      for (const expected of pages.toReversed().slice(1)) {
        page = await timeline('long', `${filter}&limit=3&cursor=${page.previous_cursor}`)
        expect(numbers(page)).toEqual(expected)
      }
      expect(page.previous_cursor).toBeNull()
    },
  )

  it('begins around a step, by its number or by the id of its entry', async () => {
    const { steps } = await timeline('long')
    const log_id = steps[19]?.log_id
    for (const around of ['20', log_id]) {
      expect(numbers(await timeline('long', `around=${around}&limit=5`))).toEqual([18, 19, 20, 21, 22])
    }
    expect(numbers(await timeline('long', 'around=20&limit=4&violating=true'))).toEqual([13, 17, 21, 25])
    expect(numbers(await timeline('long', 'around=1&limit=4'))).toEqual([1, 2, 3, 4])
    // The cursor of a page that was around a step leads to the steps before it.
    const { previous_cursor } = await timeline('long', 'around=20&limit=5')
    expect(numbers(await timeline('long', `around=20&limit=5&cursor=${previous_cursor}`))).toEqual([13, 14, 15, 16, 17])
  })

  it.each([
    ['around=99', 'around'],
    ['around=log_nothing', 'around'],
    ['kind=model', 'kind'],
    ['violating=yes', 'violating'],
    ['limit=201', 'limit'],
    ['cursor=x', 'cursor'],
  ])('rejects a wrong parameter and names it: %s', async (query, path) => {
    const { status, body } = await platform.call<Problem>('GET', `/api/v1/tasks/t/steps?${query}`)
    expect([status, body.errors.map((error) => error.path)]).toEqual([422, [path]])
  })

  it('rejects the id of an entry of another task', async () => {
    const { steps } = await timeline('long')
    const path = `/api/v1/tasks/t/steps?around=${steps[0]?.log_id}`
    expect((await platform.call('GET', path)).status).toBe(422)
  })

  it('is that of an unknown task for a member of another workspace', async () => {
    const guest = await signedIn(platform, mails, 'guest@example.org')
    expect((await platform.call('GET', '/api/v1/tasks/nothing/steps')).status).toBe(404)
    expect((await guest.call('GET', '/api/v1/tasks/t/steps')).status).toBe(404)
    expect((await guest.call('GET', '/api/v1/logs/tasks?around=t')).status).toBe(422)
  })

  it('keeps outcomes and violations of erased steps without their payloads', async () => {
    const before = await timeline('t')
    const body = { task_id: 't', legal_basis: 'a test' }
    expect((await platform.call('POST', '/api/v1/erasures', { body })).status).toBe(201)
    const { steps, task, violating } = await timeline('t')
    expect([task.violations, violating]).toEqual([6, 5])
    for (const [index, step] of steps.entries()) {
      expect(step).toMatchObject({ is_erased: true, effect: null, input: null, output: null, step_name: null })
      expect([before.steps[index]?.is_erased, before.steps[index]?.outcome]).toEqual([false, step.outcome])
      expect(step.violations.map(({ incident_id }) => incident_id)).toEqual(
        before.steps[index]?.violations.map(({ incident_id }) => incident_id),
      )
    }
    expect(JSON.stringify(steps)).not.toContain('plumber')
    expect((await timeline('long')).steps.every(({ is_erased }) => !is_erased)).toBe(true)
  })
})

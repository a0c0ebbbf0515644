// `svc replay --platform`: the recorded tasks of a period under other manifests, as a member replays them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BatchAnswer } from '@svc/schemas'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { type LoggedIn, openLoggedIn } from '../support/people/logged-in.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-replay-'))
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const policy = (name: string, max: number, more = '') =>
  `  - {name: ${name}, rule_type: field_in_range, params: {field: input.amount, max: ${max}, target_step_names: [refund]}, scope: step_execution, severity: critical${more}}\n`
const asked = policy('Large refunds are approved', 50, ', approval: {check_type: human_approval}')
const text = (...policies: string[]) => `name: Refunds\nversion: "1"\npolicies:\n${policies.join('')}`
const manifest = file('refunds.yaml', text(asked, policy('Huge refunds are blocked', 90)))
const older = file('older.yaml', text(asked))

let member: LoggedIn
/** The days at which the first and the last step were received. */
let days: readonly [string, string]
beforeAll(async () => {
  member = await openLoggedIn()
  const { platform, key: as } = member
  for (const agent_key of ['desk', 'night'])
    await platform.call('POST', '/api/v1/agents', { as, body: { agent_key, owner_id: 'o', purpose: 'p' } })
  const log = async (task_id: string, amount: number, agent_key: string) => {
    const step = { agent_key, task_id, timestamp: '2026-01-05T09:00:00Z' }
    const refund = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input: { amount } }
    const entries = [{ step_type: 'task.start' }, refund, { step_type: 'task.end' }].map((one, index) => ({
      ...step,
      ...one,
      step: index + 1,
    }))
    const answer = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as, body: { entries } })
    expect([answer.status, answer.body.results.map(({ status }) => status)]).toEqual([200, [201, 201, 201]])
    return (answer.body.results[2] as { entry: { received_at: string } }).entry.received_at.slice(0, 10)
  }
  const first = await log('asks', 60, 'desk')
  await log('blocks', 99, 'night')
  for (let index = 0; index < 218; index++) await log(`t-${index}`, 5, 'desk')
  days = [first, await log('last', 5, 'desk')]
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await member.close()
})

const replay = (...args: string[]) => member.svc('replay', '--platform', '--manifest', manifest, ...args)
const period = () => ['--from', days[0], '--to', days[1]]

it('replays all tasks of the period, compared with the policies in effect', async () => {
  const out = await replay(...period(), '--limit', '1')
  expect(out).toMatch(
    /^replayed 221 tasks with 663 steps under \d+ policies of \S+refunds\.yaml and of those in effect\nrecorded in .+, from \S+T00:00:00Z to \S+T00:00:00Z\n1 of 221 recorded tasks would be blocked, 1 would wait for a person/,
  )
  expect(out).toContain(
    '\ncompared with the policies in effect: 1 of 221 recorded tasks would now be blocked, 1 would now wait for a person; 2 steps in 2 tasks change\n\n',
  )
  expect(out).toContain(`steps whose outcome changes (1 of 2)\n\nallowed → blocked  task \`blocks\`, step 2: `)
  expect(out).toContain(`  Huge refunds are blocked blocks (critical; ${manifest}:5)\n`)
})

it('takes one agent by its key, and the last 30 days without a period', async () => {
  const night = await replay('--agent', 'night')
  expect(night).toMatch(/^replayed 1 task with 3 steps .*\nrecorded in .+, agent night\n/)
  expect(await replay('--agent', 'nigh')).toMatch(/^1 svc replay: no agent of .* write one of `night`/)
})

it('compares with other manifests', async () => {
  const out = await replay('--against', older)
  expect(out).toContain(
    `\ncompared with ${older}: 1 of 221 recorded tasks would now be blocked; 1 step in 1 task changes\n`,
  )
  expect(await replay('--against', older, '--fail-on', 'flipped')).toMatch(/^1 $/)
})

it('prints JSON and Markdown', async () => {
  const json = JSON.parse(await replay(...period(), '--json', '--against', 'baseline'))
  expect(json).toMatchObject({
    manifests: [manifest],
    against: ['baseline'],
    from: `${days[0]}T00:00:00Z`,
    tasks: 221,
    newly_asked_tasks: 1,
    left_out: [],
    findings: [],
  })
  expect(await replay('--markdown')).toContain('1 would now wait for a person; ')
})

it('says that a period has no task', async () => {
  expect(await replay('--from', '2026-01-05', '--to', '2026-01-05')).toMatch(
    /^1 svc replay: no task to replay in .+, from 2026-01-05T00:00:00Z to 2026-01-06T00:00:00Z\n$/,
  )
})

it.each([
  [['--from', 'yesterday'], 1, '`--from` is `yesterday`: write a day'],
  [['--from', '2026-01-02', '--to', '2026-01-01'], 1, 'is not after `from`'],
  [[manifest], 2, 'give either traces or --platform'],
])('rejects %j', async (args, code, message) => {
  const out = await replay(...args)
  expect(out.startsWith(`${code} `)).toBe(true)
  expect(out).toContain(message)
})

it('rejects a period for traces, and no traces', async () => {
  expect(await member.svc('replay', manifest, '--from', '2026-01-01')).toMatch(
    /^2 error: --from and --to are for --platform/,
  )
  expect(await member.svc('replay')).toMatch(/^2 error: missing required argument 'traces'/)
})

it('needs a login', async () => {
  const { code, stderr } = await runSvc(['replay', '--platform', '--manifest', manifest], { SVC_CONFIG_DIR: folder })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^svc replay: you are not logged in/)])
})

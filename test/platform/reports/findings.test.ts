// What a report says of policies that never applied, of incidents without an end, of approvals and of imported steps; every format
// states the same.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReportData } from '../../../report/content/report-data.js'
import { statementsOf, verdictOf } from '../../../report/content/statements.js'
import { controlMatrix } from '../../../report/controls/controls.js'
import { findings } from '../../../report/sections/matrix/findings.js'
import type { Act, StepKind } from '../../support/log/history-acts.js'
import { type HistoryPlatform, openHistoryPlatform } from '../../support/log/history-platform.js'
import { begin, playedHistory, reportOf } from '../../support/log/honest-histories.js'

const agent = 'desk'
const begun: readonly Act[] = [
  { act: 'register', agent },
  { act: 'assign', agent, waives: [], waived_days: 0 },
  { act: 'beat', agent, run: 'one', ended: false },
]
const task = (name: string, steps: readonly StepKind[], days_ago = 0, by = agent): Act => {
  const order = steps.map((_, index) => index)
  return { act: 'task', agent: by, task: name, steps, order, decided: true, days_ago, again: false }
}
/** Steps claim times some seconds after each other. */
const later: Act = { act: 'wait', minutes: 1 }
const approval = (name: string, outcome: 'given' | 'missing' | 'blocked'): Act => {
  return { act: 'approval', agent, task: name, outcome }
}

describe('a report of real acts', () => {
  let platform: HistoryPlatform
  beforeAll(async () => {
    platform = await openHistoryPlatform()
  })
  afterAll(() => platform.close())

  const report = async (...acts: readonly Act[]) =>
    reportOf((await playedHistory(platform, [...begun, ...acts])).workspace)

  it('finds a control without a step that its policies apply to not satisfied', async () => {
    const data = await report(task('quiet', ['start', 'model', 'end']))
    expect(applied(data, 'Payments are approved')).toEqual([3, 0])
    expect(foundOf(data, 'asi02')).toMatchObject([
      'not-satisfied',
      'other',
      'No policy for it applied to a step of the period.',
    ])
  })

  it('finds it satisfied once they applied, and not while an incident of theirs has no end', async () => {
    const acts = [approval('paid', 'given')]
    const data = await report(...acts)
    expect(applied(data, 'Payments are approved')).toEqual([2, 1])
    expect(foundOf(data, 'asi02')).toMatchObject(['satisfied', 'pass', null])
    const violated = [...acts, task('wrong', ['start', 'waived', 'end'])]
    const open = ['not-satisfied', 'other', '1 incident of its policies without an end at the cut-off.']
    expect(foundOf(await report(...violated), 'asi02')).toEqual(open)
    expect(foundOf(await report(...violated, { act: 'move', move: 'review' }), 'asi02')).toEqual(open)
    const resolved = await report(...violated, ...Array<Act>(3).fill({ act: 'move', move: 'resolve' }))
    expect(foundOf(resolved, 'asi02')).toMatchObject(['satisfied', 'pass', null])
  })

  it('knows the policy of an incident that was erased and whose steps were deleted after their retention', async () => {
    const acts: readonly Act[] = [
      { act: 'register', agent: 'clerk' },
      { act: 'assign', agent: 'clerk', waives: [], waived_days: 0 },
      task('old', ['start', 'waived', 'end'], 0, 'clerk'),
      { act: 'erase', task: 'old' },
      { act: 'retention', days: 184 },
      { act: 'wait', minutes: 400 * 24 * 60 },
      approval('paid', 'given'),
      { act: 'prune' },
    ]
    const data = await report(...acts)
    expect(data.integrity.pruned).toBeGreaterThan(0)
    const rows = data.policies.rows.filter(({ name, incidents }) => name === 'Known receivers' && incidents > 0)
    expect(rows).toMatchObject([{ steps: 0, controls: ['ASI02'], manifest: { name: 'Desk' } }])
    expect(foundOf(data, 'asi02')).toEqual([
      'not-satisfied',
      'other',
      '1 incident of its policies without an end at the cut-off.',
    ])
  })

  it('tells steps that were stopped for lack of an approval from those that were recorded without one', async () => {
    const { summary, ...data } = await report(
      approval('a', 'given'),
      approval('b', 'missing'),
      approval('c', 'blocked'),
    )
    expect(summary).toMatchObject({
      approvals_asked: 3,
      approvals_given: 1,
      approvals_missing: 1,
      approvals_blocked: 1,
    })
    expect(data.oversight.approvals.rows.map(({ outcome }) => outcome)).toEqual(['given', 'missing', 'blocked'])
    expect(answersOf({ ...data, summary })).toContain(
      'Policies asked for an approval of 3 steps: one was given; 1 step was stopped before it ran; 1 step was recorded without one.',
    )
  })

  it('says of an erased approval that it cannot be read', async () => {
    const data = await report(approval('a', 'given'), approval('b', 'missing'), { act: 'erase', task: 'a' })
    expect(answersOf(data)).toContain(
      'Policies are known to have asked for an approval of 1 step: none is known to have been given; 1 step was recorded without one. 1 gate was erased, which may have approved steps.',
    )
    expect(answersOf(await report(approval('a', 'given'), { act: 'erase', task: 'a' }))).toContain(
      'No policy is known to have asked for an approval. 1 gate was erased, which may have approved steps.',
    )
  })

  it('names each of the steps that policies asked about once, and erased gates apart from them', async () => {
    const asked = (['a', 'b', 'c'] as const).map((name) => approval(name, 'missing'))
    const gates: Act[] = [approval('d', 'given'), { act: 'erase', task: 'd' }]
    const data = await report(...asked, approval('e', 'blocked'), ...gates, { act: 'erase', task: 'a' })
    expect(answersOf(data)).toContain(
      'Policies are known to have asked for an approval of 4 steps: none is known to have been given; 1 step was stopped before it ran; 2 steps were recorded without one; 1 cannot be read: erased. 1 gate was erased, which may have approved steps.',
    )
  })

  it('counts an incident from before the period until it has an end, and states which steps ran in spite of a policy', async () => {
    // The registration has an incident of its own.
    const before: readonly Act[] = [{ act: 'move', move: 'resolve' }, task('wrong', ['start', 'waived'])]
    const again: Act = { ...task('wrong', ['start', 'waived', 'waived', 'end']), order: [2, 3] } as Act
    const later = async (...acts: readonly Act[]) => {
      const { workspace } = await playedHistory(platform, [...begun, ...before, { act: 'wait', minutes: 10 }, ...acts])
      return reportOf(workspace, begin + 9 * 60_000)
    }
    const data = await later(again)
    expect(data.summary).toMatchObject({ incidents_opened: 0, incidents_open: 1, incidents_open_earlier: 1 })
    expect(verdictOf(data).text).toContain(
      'It shows 1 incident without an answer, 1 step that violated a critical policy and is not known to have been stopped and',
    )
    expect(answersOf(data)).toContain(
      '1 incident has no answer. At the cut-off, 1 incident was open or active, 1 of them from before the period.',
    )
    expect(data.incidents.list.rows).toMatchObject([{ state: 'open', policy_name: 'Known receivers' }])
    const open = '1 incident of its policies without an end at the cut-off.'
    expect(foundOf(data, 'asi02')).toEqual(['not-satisfied', 'other', open])

    const reviewed = await later({ act: 'move', move: 'review' })
    expect(verdictOf(reviewed).text).toContain('1 answered incident from before the period without an end')
    const resolved = await later(
      ...Array<Act>(2).fill({ act: 'move', move: 'resolve' }),
      task('next', ['start', 'model', 'end']),
    )
    expect(resolved.summary).toMatchObject({ incidents_open: 0, incidents_open_earlier: 0 })
    expect(verdictOf(resolved).text).not.toContain('incident')
  })

  it('shows that a violation was called waived after its waiver had ended, or not waived before', async () => {
    const waives: Act = { act: 'assign', agent, waives: ['Known receivers'], waived_days: 1 }
    const steps = [task('early', ['start', 'waived', 'end']), { act: 'wait', minutes: 3 * 24 * 60 } as Act]
    const { workspace } = await playedHistory(platform, [
      { act: 'register', agent },
      waives,
      ...steps,
      task('late', ['start', 'waived', 'end']),
    ])
    expect((await reportOf(workspace)).integrity.verdict).toBe('whole')
    for (const task_id of ['early', 'late']) {
      const flip = `update log_violations v set waived = not waived from log_entries e
        where v.org_id = $1 and e.org_id = $1 and e.log_index = v.log_index and e.task_id = $2`
      const flipped = () => workspace.query(flip, [workspace.scope.org_id, task_id])
      await flipped()
      const { integrity } = await reportOf(workspace)
      expect(integrity.problems.rows).toMatchObject([{ code: 'violations_altered' }])
      await flipped()
    }
  })

  it('finds a control whose violations were waived not satisfied', async () => {
    const waives: Act = { act: 'assign', agent, waives: ['Known receivers'], waived_days: 30 }
    const acts: readonly Act[] = [{ act: 'register', agent }, waives]
    const { workspace } = await playedHistory(platform, [...acts, task('waived', ['start', 'waived', 'end'])])
    const data = await reportOf(workspace)
    expect(data.summary).toMatchObject({ waived: 1, enforced: 0 })
    expect(foundOf(data, 'asi02')).toEqual(['not-satisfied', 'other', '1 violation was waived.'])
  })

  it('counts every event of the period by kind', async () => {
    const noted: Act[] = [task('wrong', ['start', 'waived', 'end']), { act: 'note' }, { act: 'note' }]
    const { oversight, integrity } = await report(...noted, { act: 'move', move: 'review' })
    expect(oversight.events['incident.noted']).toBe(2)
    const sum = Object.values(oversight.events).reduce((total, count) => total + count, 0)
    expect(sum).toBe(integrity.leaves.event)
  })

  it('says on page 1 which steps claim times outside of the period, and from when', async () => {
    const data = await report(task('now', ['start', 'end']), task('imported', ['start', 'waived', 'end'], 500), later)
    expect(data.summary).toMatchObject({ steps_outside: 3, outside: { first: expect.stringMatching(/^2024-08-28T/) } })
    expect(answersOf(data)).toMatch(
      /Times are times of receipt: 3 of 5 steps claim a time outside the period \(2024-08-28 \d\d:\d\d:\d\d to 2024-08-28 \d\d:\d\d:\d\d UTC\)\./,
    )
    expect(answersOf(await report(task('now', ['start', 'end']), later))).toContain('Times are times of receipt. ')
  })
})

const answersOf = (data: ReportData) =>
  statementsOf(data)
    .map(({ answer }) => answer)
    .join('\n')

function applied({ policies }: ReportData, name: string) {
  const [policy] = policies.rows.filter((row) => row.name === name)
  return [policy?.steps, policy?.applied]
}

/** The state and reason in the formats of machines, and the first sentence that says what is missing; the matrix agrees. */
function foundOf(data: ReportData, control_id: string) {
  const rows = controlMatrix(data)
  const row = rows.find((one) => one.control_id === control_id)
  const targets = findings(data, rows).map(
    ({ target }) => target as { 'target-id': string; status: { state: string; reason: string; remarks: string[] } },
  )
  const status = targets.find((target) => target['target-id'] === `${control_id}_obj`)?.status
  expect(row?.is_satisfied).toBe(status?.state === 'satisfied')
  const missing = row?.problems.at(-1) ?? null
  if (missing !== null) expect(status?.remarks).toContain(missing)
  return [status?.state, status?.reason, missing]
}

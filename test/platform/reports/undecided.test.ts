// Page 1 of the report about an engine that was stopped in order: it does not call the time after it governed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReportData } from '../../../report/content/report-data.js'
import { statementsOf, verdictOf } from '../../../report/content/statements.js'
import type { Act } from '../../support/log/history-acts.js'
import { type HistoryPlatform, type HistoryWorkspace, openHistoryPlatform } from '../../support/log/history-platform.js'
import { playedHistory, reportOf } from '../../support/log/honest-histories.js'

const task = (name: string, decided: boolean): Act => {
  const steps = ['start', 'model', 'end'] as const
  return { act: 'task', agent: 'desk', task: name, steps, order: [0, 1, 2], decided, days_ago: 0, again: false }
}
const beat = (run: string, ended: boolean): Act => ({ act: 'beat', agent: 'desk', run, ended })
const days = (count: number): Act => ({ act: 'wait', minutes: count * 24 * 60 })

/** The engine runs from the registration on, with one task in it, and is stopped. */
const stopped: readonly Act[] = [
  { act: 'register', agent: 'desk' },
  { act: 'assign', agent: 'desk', waives: [], waived_days: 0 },
  beat('one', false),
  task('governed', true),
  beat('one', true),
  days(20),
]

describe('a report about an agent whose engine was stopped', () => {
  let platform: HistoryPlatform
  beforeAll(async () => {
    platform = await openHistoryPlatform()
  })
  afterAll(() => platform.close())

  const report = async (...more: readonly Act[]) => {
    const { workspace } = await playedHistory(platform, [...stopped, ...more])
    const data = await reportOf(workspace)
    return { data, ...pageOf(data), workspace }
  }

  it('counts steps that came without a decision as ungoverned time', async () => {
    const { data, verdict, governed } = await report(task('without an engine', false))
    expect(data.agents.rows[0]?.governance.intervals.at(-1)).toMatchObject({
      state: 'ungoverned',
      reason: 'undecided',
      steps: 3,
    })
    expect(data.summary).toMatchObject({ ungoverned_agents: 1, decided_steps: 3, undecided_steps: 3 })
    expect(verdict).toMatch(/1 agent with ungoverned time, .* and 3 steps without a decision\.$/)
    expect(governed).toContain('Local engines evaluated 3 of 6 steps before they ran.')
    expect(governed).toContain('While no engine ran, 3 steps came without a decision.')
    expect(governed).not.toContain('No agent is known to have been ungoverned')
  })

  it('shows time without an engine, which is neither governed nor ungoverned', async () => {
    const { data, governed, workspace } = await report()
    const ran = await engineTime(workspace)
    const end = data.report.as_of
    const { intervals, governed_seconds, idle_seconds } = data.agents.rows[0]?.governance ?? {}
    expect(intervals?.at(-1)).toMatchObject({ state: 'idle', reason: 'stopped', from: ran.to, to: end })
    expect([governed_seconds, idle_seconds]).toEqual([seconds(ran), seconds({ from: ran.to, to: end })])
    expect(idle_seconds).toBeGreaterThan(20 * 86_400)
    expect(governed).toContain('Local engines evaluated all 3 steps before they ran.')
    expect(governed).toContain('No agent is known to have been ungoverned.')
  })

  it('believes steps that arrive late with the decision of the engine', async () => {
    const { data } = await report(task('delivered late', true))
    expect(data.summary).toMatchObject({ ungoverned_agents: 0, decided_steps: 6, undecided_steps: 0 })
  })

  it('says of erased steps that they cannot be read', async () => {
    const { data, governed } = await report({ act: 'erase', task: 'governed' })
    expect(data.summary).toMatchObject({ decided_steps: 0, undecided_steps: 0, ungoverned_agents: 0 })
    expect(governed).toContain(
      'No step is known to have been evaluated by a local engine before it ran; of 3 it cannot be read: erased.',
    )
  })

  it('counts steps beside a running engine, which leave no time ungoverned', async () => {
    const { data, verdict, governed } = await report(beat('two', false), task('beside the engine', false))
    expect(data.summary).toMatchObject({ ungoverned_agents: 0, undecided_steps: 3 })
    expect(verdict).toContain('3 steps without a decision')
    expect(governed).not.toContain('No agent is known to have been ungoverned')
  })
})

/** From the first heartbeat of the engine to its orderly stop, as the log has them. */
async function engineTime({ query, scope }: HistoryWorkspace): Promise<Time> {
  const [time] = await query<Time>(
    `select min(data ->> 'known_from') as from, max(data ->> 'known_until') filter (where (data ->> 'ended')::boolean) as to
     from events where org_id = $1 and kind = 'engine.state'`,
    [scope.org_id],
  )
  if (time === undefined) throw new Error('no engine')
  return time
}

interface Time {
  readonly from: string
  readonly to: string
}

const seconds = ({ from, to }: Time) => Math.round((Date.parse(to) - Date.parse(from)) / 1000)

function pageOf(data: ReportData) {
  return { verdict: verdictOf(data).text, governed: statementsOf(data)[0]?.answer ?? '' }
}

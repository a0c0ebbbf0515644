// When an agent was governed: the cases of test/cases/governance.yaml; governance.full.test.ts runs them on both databases.
import { readFileSync } from 'node:fs'
import { isoTime } from '@svc/schemas'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { parse } from 'yaml'
import { readGovernance } from '../../../platform/agents/read-governance.js'
import { withStateNow } from '../../../platform/agents/read-now.js'
import { agentView, findAgents, listAgents } from '../../../platform/agents/store/agents.js'
import { withSnapshot } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { readLogSize } from '../../../platform/ledger/log.js'
import { type ReadGovernance, withUndecided } from '../../../report/governance/agent-governance.js'
import type { Governance } from '../../../report/governance/governance.js'
import {
  type Beat,
  type GovernedWorkspace,
  openGovernedWorkspace,
  type TestPolicy,
} from '../../support/reports/governance.js'
import { forEachDatabase } from '../../support/server/postgres.js'

interface Case {
  readonly name: string
  readonly timeline?: readonly string[]
  readonly as_of: number
  readonly period?: readonly [number, number]
  readonly steps?: readonly number[]
  readonly minutes: readonly [number, number, number, number?]
  readonly intervals?: readonly string[]
}

const cases = parse(readFileSync(new URL('../../cases/governance.yaml', import.meta.url), 'utf8')) as Case[]
const begin = Date.UTC(2026, 2, 1)
const dayMs = 86_400_000

interface Happening {
  readonly at: number
  readonly words: readonly string[]
}

/** One line of a timeline; a range happens every minute. */
function happenings(line: string): Happening[] {
  const [when = '', ...words] = line.split(' ')
  const [first = 0, last = first] = when.split('-').map(Number)
  const count = Math.floor(last - first) + 1
  return Array.from({ length: count }, (_, index) => ({ at: first + index, words }))
}

function policyOf(word: string, time: (minute: number) => number): TestPolicy[] {
  const [kind, until] = word.split('-until-')
  if (kind === 'none') return []
  if (kind === 'observe') return [{ mode: 'observe' }]
  if (kind === 'disabled') return [{ enabled: false }]
  if (kind === 'registration') return [{ scope: 'agent_registration' }]
  return [kind === 'waived' ? { waived_until: isoTime(time(Number(until))) } : {}]
}

/** Of a policy that is written: for all agents, the agent of the case, or one level. */
function targetOf([, target = '', mode = 'enforce']: readonly string[], agent_id: string): object {
  if (target === 'registration')
    return { mode, scope: 'agent_registration', rule_type: 'field_not_empty', params: { field: 'owner_id' } }
  if (target === 'own') return { mode, agent_id }
  return target === 'all' ? { mode } : { mode, risk_classification: target }
}

/** What is set on a policy. */
function setOf([, word = '']: readonly string[]): object {
  return word === 'enable' || word === 'disable' ? { enabled: word === 'enable' } : { mode: word }
}

function beatOf([run = '', state = '', ...more]: readonly string[], time: (minute: number) => number): Beat {
  const after = (word: string) => (more.includes(word) ? time(Number(more[more.indexOf(word) + 1])) : undefined)
  const until = after('until')
  return {
    run,
    state: state as Beat['state'],
    since: after('since') ?? 0,
    ...(until !== undefined && { until }),
    ...(more.includes('ended') && { ended: true }),
  }
}

function shown({ intervals, more, ...seconds }: Governance, start: number) {
  const { governed_seconds, ungoverned_seconds, unknown_seconds, idle_seconds } = seconds
  const minute = (time: string) => (Date.parse(time) - start) / 60_000
  return {
    minutes: [governed_seconds, ungoverned_seconds, unknown_seconds, idle_seconds].map((each) => each / 60),
    intervals: intervals.map(({ from, to, state, reason, instance_id, steps = '' }) =>
      `${minute(from)} ${minute(to)} ${state} ${reason} ${instance_id} ${steps}`.trimEnd(),
    ),
    more,
  }
}

const ranks: readonly string[] = [
  'no_policy',
  'unavailable',
  'all_dropped',
  'none_configured',
  'silent',
  'no_engine',
  'stopped',
]

/** Expects that the list of agents and its filter tell of the agent now what the report tells of the last millisecond. */
async function expectAgreement({ db, scope }: GovernedWorkspace, agent_id: string, now: number) {
  await withSnapshot(db, scope, async (tx) => {
    const cut_off = { size: await readLogSize(scope, tx), at: isoTime(now + 1) }
    const period = { from: isoTime(now), to: isoTime(now + 1), cut_off }
    const found = await readGovernance(scope, tx, { agent_ids: [agent_id], ...period })
    const reasons = found.get(agent_id)?.intervals.map(({ reason }) => reason) ?? []
    const [reason = null] = reasons.toSorted((a, b) => ranks.indexOf(a) - ranks.indexOf(b))
    const listed = async (governed: string) =>
      (await listAgents(scope, tx, now, { governed }, { limit: 1000, after: null })).rows.find(
        (one) => one.agent_id === agent_id,
      )
    const [yes, no] = [await listed('true'), await listed('false')]
    const [shown] = await withStateNow(scope, tx, now, (await findAgents(scope, tx, [agent_id])).map(agentView))
    const isActive = shown?.active === true
    expect(shown?.governance?.reason).toBe(isActive ? reason : 'deactivated')
    expect(shown?.governance?.state === 'governed').toBe(isActive && reason === null)
    expect([yes !== undefined, no !== undefined]).toEqual([isActive && reason === null, isActive && reason !== null])
  })
}

const isFull = inject('project') === 'full'

await forEachDatabase('the governance of an agent', ({ fresh, kind }) => {
  if (kind === 'postgresql' && !isFull) return it.skip('is tested by governance.full.test.ts')
  let workspace: GovernedWorkspace
  beforeAll(async () => {
    workspace = await openGovernedWorkspace(fresh(), begin)
  })
  afterAll(() => workspace.close())

  it.each(cases.map((one, index) => ({ ...one, index })))('$name', async (one) => {
    const { timeline = [], as_of, period = [0, as_of], steps = [], intervals = [], index } = one
    const {
      minutes: [governed, ungoverned, unknown, idle = 0],
    } = one
    const start = begin + (index + 1) * 3 * dayMs
    const time = (minute: number) => start + minute * 60_000
    const agent_key = `agent ${index}`
    workspace.setTime(start)
    const agent_id = await workspace.register(agent_key)
    const written = new Map<string, number>()
    const removeWritten = async (name: string) => {
      await workspace.remove(written.get(name) ?? 0)
      written.delete(name)
    }
    const happen = async ({ at, words: [verb, ...words] }: Happening) => {
      workspace.setTime(time(at))
      if (verb === 'beat') await workspace.beat(agent_key, beatOf(words, time))
      else if (verb === 'write') written.set(words[0] ?? '', await workspace.write(targetOf(words, agent_id)))
      else if (verb === 'set') await workspace.change(written.get(words[0] ?? '') ?? 0, setOf(words))
      else if (verb === 'override')
        for (const id of await workspace.assigned(agent_id)) await workspace.change(id, setOf(['', ...words]))
      else if (verb === 'delete') await removeWritten(words[0] ?? '')
      else if (verb === 'level') await workspace.setLevel(agent_id, words[0] as 'minimal')
      else if (verb === 'policies')
        await workspace.setPolicies(
          agent_id,
          words.flatMap((word) => policyOf(word, time)),
        )
      else await workspace.activate(agent_id, verb === 'reactivate')
    }
    const all = timeline.flatMap(happenings).sort((a, b) => a.at - b.at)
    for (const one of all.filter(({ at }) => at <= as_of)) await happen(one)
    workspace.setTime(time(as_of))
    const cut_off = await workspace.cutOff()
    const read = async () => {
      const [from = 0, to = 0] = period
      const found = await workspace.read([agent_id], { from: time(from), to: time(to) }, cut_off)
      return shown(withUndecided(found.get(agent_id) as ReadGovernance, steps.map(time)), start)
    }
    const expected = { minutes: [governed, ungoverned, unknown, idle], intervals, more: 0 }
    expect(await read()).toEqual(expected)
    await expectAgreement(workspace, agent_id, time(as_of))
    for (const one of all.filter(({ at }) => at > as_of)) await happen(one)
    expect(await read()).toEqual(expected)
    await expectAgreement(workspace, agent_id, time(Math.max(as_of, ...all.map(({ at }) => at))))
    // The next cases have agents that policies for all agents would reach.
    for (const name of [...written.keys()]) await removeWritten(name)
    expect(await read()).toEqual(expected)
  })

  it('is left out for agents of another workspace, and for unknown ones', async () => {
    const agent_id = await workspace.register('of another workspace')
    const cut_off = await workspace.cutOff()
    const period = { from: isoTime(begin), to: isoTime(begin + dayMs), cut_off }
    const readAs = (org_id: string) => {
      const scope = scopeOf(org_id, { kind: 'system', id: 'test' })
      return withSnapshot(workspace.db, scope, (tx) =>
        readGovernance(scope, tx, { agent_ids: [agent_id, 'ag_0'], ...period }),
      )
    }
    expect([...(await readAs(workspace.scope.org_id)).keys()]).toEqual([agent_id])
    expect([...(await readAs('org_1a')).keys()]).toEqual([])
  })
})

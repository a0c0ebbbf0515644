// Resumes the agents of a stop: all of them, or a part as a stage (docs/design/platform.md §9).
import { createHash } from 'node:crypto'
import { quotePath } from '@svc/engine/parts'
import { isoTime, type Stop, type StopResume } from '@svc/schemas'
import { changeAs } from '../../access/commands/members.js'
import type { Resources } from '../../db/db.js'
import { actorText, type Scope } from '../../db/scope.js'
import { invalid, invalidTransition } from '../../errors.js'
import { operators } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { bumpConfig } from '../../ledger/log.js'
import { type ConcernedAgent, concernedAgents, resumeAgents, setStop } from '../store/stops.js'
import { stopIn } from './stop.js'

/** The states from which a stop can be resumed. */
const resumable: readonly Stop['state'][] = ['stopped', 'resuming']

/**
 * Resumes agents; those of no stage stay stopped. Rejects with NOT_FOUND, with INVALID_TRANSITION when all are resumed, and with
 * INVALID for agents that the stop does not stop.
 */
export async function resumeStop(parts: Resources, scope: Scope, id: string, request: StopResume): Promise<Stop> {
  const { agent_ids, percent } = stageIn(request)
  const { note } = request
  return changeAs(parts, scope, operators, async (tx, { now, log_index }) => {
    const { state, stages, policy_id } = await stopIn(scope, tx, id)
    if (!resumable.includes(state)) throw invalidTransition('resume', 'a stop', state, resumable)
    const agents = await concernedAgents(scope, tx, id)
    const isWhole = agent_ids === null && (percent ?? 100) === 100
    const selected = isWhole ? stillStopped(agents) : stageOf(id, agents, agent_ids, percent ?? 0)
    if (!isWhole) await resumeAgents(scope, tx, id, selected)
    const to: Stop['state'] = isWhole ? 'resumed' : 'resuming'
    const stage = {
      at: isoTime(now),
      by: actorText(scope),
      agents: selected.length,
      percent,
      note: note ?? null,
    }
    await setStop(scope, tx, now, { id, state: to, stages: [...stages, stage], policy_id }, log_index)
    // The agents of the last stage are all that remain; thousands of ids would fill a page of events.
    const data = { from: state, to, agents: stage.agents, percent: stage.percent, note: stage.note }
    const in_leaf = isWhole ? {} : { agent_ids: selected }
    await recordEvents(scope, tx, now, [{ kind: 'stop.resumed', subject_kind: 'stop', subject_id: id, data, in_leaf }])
    await bumpConfig(scope, tx)
    return stopIn(scope, tx, id)
  })
}

/** Throws INVALID for both, and for null where a number or a list was meant: it must not resume all agents. */
function stageIn({ agent_ids, percent }: StopResume) {
  if (agent_ids != null && percent != null)
    throw invalid([{ path: 'percent', message: 'is given beside `agent_ids`: send one of them' }])
  if (agent_ids == null && percent == null && (agent_ids === null || percent === null)) {
    const path = percent === null ? 'percent' : 'agent_ids'
    throw invalid([{ path, message: 'is null: say which agents, or send `{}` to resume all that are still stopped' }])
  }
  return { agent_ids: agent_ids ?? null, percent: percent ?? null }
}

function stillStopped(agents: readonly ConcernedAgent[]): string[] {
  return agents.filter(({ resumed }) => !resumed).map(({ agent_id }) => agent_id)
}

/** Throws INVALID when the stage would resume no agent, or one that the stop does not stop. */
function stageOf(id: string, agents: readonly ConcernedAgent[], agent_ids: readonly string[] | null, percent: number) {
  return agent_ids === null ? shareOf(id, agents, percent) : namedIn(agents, agent_ids)
}

function namedIn(agents: readonly ConcernedAgent[], agent_ids: readonly string[]): string[] {
  const stopped = new Set(stillStopped(agents))
  const errors = agent_ids.flatMap((agent_id, index) =>
    stopped.has(agent_id)
      ? []
      : [
          {
            path: `agent_ids.${index}`,
            message: `${quotePath(agent_id)} is not the id of an agent that this stop stops now: take it out, or send its \`agent_id\``,
          },
        ],
  )
  if (errors.length > 0) throw invalid(errors)
  return [...new Set(agent_ids)]
}

/** The agents that bring the resumed ones to `percent` of all, in the order of a hash that no caller chooses. */
function shareOf(id: string, agents: readonly ConcernedAgent[], percent: number): string[] {
  const wanted = Math.ceil((agents.length * percent) / 100)
  const done = agents.filter(({ resumed }) => resumed).length
  if (wanted <= done) {
    const message = `resumes no further agent: ${done} of ${agents.length} are resumed; write a larger number`
    throw invalid([{ path: 'percent', message }])
  }
  const rank = (agent_id: string) => createHash('sha256').update(`${id}\0${agent_id}`).digest('hex')
  const ranked = stillStopped(agents).map((agent_id) => [rank(agent_id), agent_id] as const)
  return ranked
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, wanted - done)
    .map(([, agent_id]) => agent_id)
}

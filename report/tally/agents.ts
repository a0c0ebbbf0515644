// The agents as of the cut-off: from the events that registered and changed them, and from the table for what these do not hold.
import { isMap } from '@svc/proof'
import type { AgentFacts, AgentRow } from '../content/messages.js'
import { type EventLeaf, textOf } from './leaves.js'

interface KnownAgent {
  registered: EventLeaf | null
  /** The latest events with the level in effect, and with all facts. */
  level: { readonly log_index: number; readonly level: string } | null
  facts: { readonly log_index: number; readonly facts: Readonly<Record<string, unknown>> } | null
  factsFrom: number
  active: { readonly log_index: number; readonly active: boolean } | null
  /** True if it was active before the first change after the cut-off. */
  laterActive: { readonly log_index: number; readonly active: boolean } | null
  row: AgentRow | null
}

export type Agents = ReturnType<typeof createAgents>

/** `as_of`: when the checkpoint of the cut-off was published. */
export function createAgents(cut_off: number, as_of: string, chosen: ReadonlySet<string> | null) {
  const all = new Map<string, KnownAgent>()
  const late = new Set<string>()
  const agentOf = (agent_id: string) => {
    const known = all.get(agent_id)
    if (known !== undefined) return known
    const added: KnownAgent = {
      registered: null,
      level: null,
      facts: null,
      factsFrom: Number.POSITIVE_INFINITY,
      active: null,
      laterActive: null,
      row: null,
    }
    all.set(agent_id, added)
    return added
  }
  return {
    /** An event `agent.…`, in any order; those after the cut-off show what was before them. */
    event: (event: EventLeaf) => {
      const agent = agentOf(event.subject_id)
      const { log_index, kind } = event
      if (kind === 'agent.deactivated' || kind === 'agent.reactivated') noteActive(agent, event, cut_off)
      else if (log_index >= cut_off) {
        if (kind === 'agent.registered') late.add(event.subject_id)
      } else {
        if (kind === 'agent.registered') agent.registered = event
        noteFacts(agent, event)
      }
    },
    row: (row: AgentRow) => {
      agentOf(row.agent_id).row = row
    },
    factsFrom: (agent_id: string) => all.get(agent_id)?.factsFrom ?? Number.POSITIVE_INFINITY,
    /** Registered before the cut-off, of the chosen ones. */
    ids: () =>
      [...all]
        .filter(([agent_id, { registered, row }]) => {
          if (late.has(agent_id) || (chosen !== null && !chosen.has(agent_id))) return false
          return registered !== null || (row !== null && row.created_at <= as_of)
        })
        .map(([agent_id]) => agent_id),
    nameOf: (agent_id: string) => factsOf(all.get(agent_id), agent_id).name,
    facts: (agent_id: string) => factsOf(all.get(agent_id), agent_id),
  }
}

function noteActive(agent: KnownAgent, { log_index, kind }: EventLeaf, cut_off: number): void {
  const active = kind === 'agent.reactivated'
  if (log_index < cut_off && log_index > (agent.active?.log_index ?? -1)) agent.active = { log_index, active }
  if (log_index >= cut_off && log_index < (agent.laterActive?.log_index ?? Number.POSITIVE_INFINITY))
    agent.laterActive = { log_index, active: !active }
}

function noteFacts(agent: KnownAgent, { log_index, data }: EventLeaf): void {
  const level = textOf(data.effective_risk_classification) ?? textOf(data.to)
  if (level !== null && log_index > (agent.level?.log_index ?? -1)) agent.level = { log_index, level }
  if (!isMap(data.facts)) return
  agent.factsFrom = Math.min(agent.factsFrom, log_index)
  if (log_index > (agent.facts?.log_index ?? -1)) agent.facts = { log_index, facts: data.facts }
}

function factsOf(agent: KnownAgent | undefined, agent_id: string): AgentFacts {
  const { facts, row, registered, level, active, laterActive } = agent ?? {}
  const own = facts?.facts ?? row ?? {}
  return {
    agent_key: textOf(own.agent_key) ?? textOf(registered?.data.agent_key) ?? agent_id,
    name: textOf(own.name) ?? agent_id,
    purpose: textOf(own.purpose),
    risk_classification: level?.level ?? row?.risk_classification ?? 'unclassified',
    environment: textOf(own.environment) ?? 'production',
    active: active?.active ?? laterActive?.active ?? row?.active ?? true,
    registered_at: registered?.at ?? row?.created_at ?? null,
  }
}

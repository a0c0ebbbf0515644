// The tools of an agent: those that it declares, and those that its last steps used.
import { toolOfStep } from '@svc/engine/parts'
import { type Agent, type AgentTools, canonicalType } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { readLogs } from './store/logs.js'

/** As many as the largest page of the log: counting the tools of every step would slow the write path. */
const maxSteps = 200

type Tool = AgentTools['tools'][number]

/** The used tools first, those with most uses before others, and then the declared ones that were not used, by name. */
export async function toolsOf(
  scope: Scope,
  tx: Transaction,
  { agent_id, declared_tools }: Pick<Agent, 'agent_id' | 'declared_tools'>,
): Promise<AgentTools> {
  const steps = await readLogs(scope, tx, { agent_id }, maxSteps, null)
  const declared = (declared_tools ?? []).map((tool) => (typeof tool === 'string' ? tool : tool.name))
  const tools = new Map<string, Tool>(
    declared.map((name) => [name, { name, declared: true, uses: 0, last_used: null }]),
  )
  // The newest come first.
  for (const { step_type, step_name, received_at } of steps) {
    const name = toolOfStep({ step_type: canonicalType(step_type) ?? step_type, step_name: step_name ?? '' })
    if (name === null) continue
    const { uses = 0, last_used = received_at, declared = false } = tools.get(name) ?? {}
    tools.set(name, { name, declared, uses: uses + 1, last_used: last_used ?? received_at })
  }
  const ranked = [...tools.values()].toSorted((a, b) => b.uses - a.uses || (a.name < b.name ? -1 : 1))
  return { tools: ranked, has_declared: declared_tools !== null, of_last: steps.length }
}

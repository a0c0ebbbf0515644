// Hosted evaluation: the local engine's question, answered with the history the platform holds. Changes nothing.

import {
  evaluate,
  factsTightened,
  newHistory,
  occasionOf,
  type RunState,
  record,
  startsRun,
  stateAfter,
} from '@svc/engine'
import { actionDigest, occurredAt } from '@svc/proof'
import type { Evaluation, HostedEvaluateRequest } from '@svc/schemas'
import { type AgentRules, loadRules } from '../../agents/rulebook.js'
import { agentIdOf } from '../../agents/store/agents.js'
import { type Resources, type Transaction, withTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { readHead, readTail } from '../../ledger/log.js'

/** Judges the intended step. A key sees its own agents only; an operator names the agent by its id. */
export async function evaluateStep(
  resources: Resources,
  scope: Scope,
  key: KeyIdentity | null,
  { intended, context = {} }: HostedEvaluateRequest,
): Promise<Evaluation> {
  const named = context.agent_id ?? intended.agent_id
  if (named === undefined) throw invalid([{ path: 'context.agent_id', message: 'name the agent' }])
  const now = resources.clock()
  return withTransaction(resources.db, scope, async (tx) => {
    const rules = await rulesFor(scope, tx, key, named)
    const task_id = context.task_id ?? intended.task_id
    const { history, last_at } = await historyOf(scope, tx, rules, task_id ?? null, intended.step_type)
    const facts = factsTightened(rules.facts, context)
    const at = occurredAt(intended.timestamp ?? new Date(now).toISOString(), last_at)
    const evaluated = { step: intended, agent: facts, context: facts, history, now: at }
    const { passed: _, policies, violations, ...decision } = evaluate(rules.set, occasionOf(intended), evaluated)
    const action_digest = actionDigest(intended)
    return {
      evaluation_id: newId('eval', now),
      ...decision,
      violations: [...violations],
      policies: [...policies],
      action_digest,
    }
  })
}

/** The agent by its id or, for a key, by its own key; an agent of another key does not exist. */
async function rulesFor(scope: Scope, tx: Transaction, key: KeyIdentity | null, named: string): Promise<AgentRules> {
  const ids = key === null ? [named] : [named, agentIdOf(key.first_key_hash, named)]
  const found = await loadRules(scope, tx, ids)
  const rules = found.find(({ agent }) => key === null || agent.api_key_id === key.key_id)
  if (rules === undefined) throw new PlatformError('NOT_FOUND', 'no such agent')
  return rules
}

/** What the task has done before a step of that type: nothing, where its id is used again after its end. */
async function historyOf(scope: Scope, tx: Transaction, rules: AgentRules, task_id: string | null, step_type: string) {
  let history = newHistory(rules.set)
  let state: RunState = 'none'
  const head = task_id === null ? null : await readHead(scope, tx, task_id)
  if (task_id === null || head === null) return { history, last_at: null }
  if (head.agent_id !== rules.agent.agent_id) throw new PlatformError('NOT_FOUND', 'no such task of this agent')
  let last_at: number | null = null
  for (const { step, at } of await readTail(scope, tx, task_id, 0)) {
    if (startsRun(state, step.step_type)) history = newHistory(rules.set)
    state = stateAfter(state, step.step_type)
    record(rules.set, history, step, at)
    last_at = at
  }
  if (startsRun(state, step_type)) history = newHistory(rules.set)
  return { history, last_at }
}

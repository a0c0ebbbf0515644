// Hosted evaluation: evaluates a step as the local engine does, with the history that the platform stores. Adds nothing to the log.

import {
  evaluate,
  factsTightened,
  newHistory,
  occasionOf,
  type RunState,
  record,
  startsRun,
  stateAfter,
  withMemoryLabels,
} from '@svc/engine'
import { actionDigest, occurredAt } from '@svc/proof'
import { type Evaluation, type HostedEvaluateRequest, isoTime } from '@svc/schemas'
import { agentNotFound } from '../../agents/errors.js'
import { type AgentRules, loadRules } from '../../agents/rulebook.js'
import { agentIdOf } from '../../agents/store/agents.js'
import { type Resources, type Transaction, withTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { readHead, readTail } from '../../ledger/log.js'
import type { Sealer } from '../../secrets/seal.js'
import { intendedLabels } from '../memory.js'

/** `sealer` opens the key of the digests of memories. */
export type EvaluationParts = Resources & { readonly sealer: Sealer }

/** Evaluates the intended step. A key sees only its own agents; a member names the agent by its id. */
export async function evaluateStep(
  { db, clock, sealer }: EvaluationParts,
  scope: Scope,
  key: KeyIdentity | null,
  { intended, context = {} }: HostedEvaluateRequest,
): Promise<Evaluation> {
  const named = context.agent_id ?? intended.agent_id
  if (named === undefined) throw invalid([{ path: 'context.agent_id', message: 'is missing: name the agent' }])
  const now = clock()
  return withTransaction(db, scope, async (tx) => {
    const rules = await rulesFor(scope, tx, key, named)
    const task_id = context.task_id ?? intended.task_id
    const { history, last_at } = await historyOf(scope, tx, rules, task_id ?? null, intended.step_type)
    const facts = factsTightened(rules.facts, context)
    const at = occurredAt(intended.timestamp ?? isoTime(now), last_at)
    const labels = await intendedLabels(scope, tx, sealer, rules.agent.agent_id, intended)
    const step = withMemoryLabels(intended, labels)
    const evaluated = { step, agent: facts, context: facts, history, now: at }
    const {
      passed: _,
      approvals: _missing,
      policies,
      violations,
      ...decision
    } = evaluate(rules.set, occasionOf(intended), evaluated)
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

/** The rules of the agent, by its id or, for an API key, also by its `agent_key`. Rejects with NOT_FOUND. */
async function rulesFor(scope: Scope, tx: Transaction, key: KeyIdentity | null, named: string): Promise<AgentRules> {
  const ids = key === null ? [named] : [named, agentIdOf(key.first_key_hash, named)]
  const found = await loadRules(scope, tx, ids)
  const rules = found.find(({ agent }) => key === null || agent.api_key_id === key.key_id)
  if (rules === undefined) throw agentNotFound()
  return rules
}

/** The history of the task before a step of that type: empty when the step reuses the id of a task that ended. */
async function historyOf(scope: Scope, tx: Transaction, rules: AgentRules, task_id: string | null, step_type: string) {
  let history = newHistory(rules.set)
  let state: RunState = 'none'
  const head = task_id === null ? null : await readHead(scope, tx, task_id)
  if (task_id === null || head === null) return { history, last_at: null }
  if (head.agent_id !== rules.agent.agent_id)
    throw new PlatformError('NOT_FOUND', `agent \`${rules.agent.agent_key}\` has no task \`${task_id}\``)
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

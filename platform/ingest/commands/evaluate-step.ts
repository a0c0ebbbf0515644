// Hosted evaluation: evaluates a step as the local engine does, with the history that the platform stores. Adds nothing to the log.

import { approvalsRequired, type Decision, factsTightened, Task, withMemoryLabels } from '@svc/engine'
import { actionDigest, type StoredHead } from '@svc/proof'
import { type Behavior, type Evaluation, type HostedEvaluateRequest, isoTime, type PolicyResult } from '@svc/schemas'
import { agentNotFound } from '../../agents/errors.js'
import { type AgentRules, loadRules, rulesOfTask } from '../../agents/rulebook.js'
import { agentIdOf } from '../../agents/store/agents.js'
import { type Resources, type Transaction, withTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import { readHead, readTail } from '../../ledger/log.js'
import type { Sealer } from '../../secrets/seal.js'
import { type LogBodyFields, logBodies } from '../log-bodies.js'
import { intendedLabels } from '../memory.js'

export interface EvaluationParts extends Resources {
  /** Opens the key of the digests of memories. */
  readonly sealer: Sealer
  /** Counts an evaluation. */
  readonly evaluated: (outcome: Evaluation['outcome']) => void
}

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
    const agent = await rulesFor(scope, tx, key, named)
    const task_id = context.task_id ?? intended.task_id
    const head = await headOf(scope, tx, agent, task_id ?? null)
    const rules = head === null ? agent : await rulesOfTask(scope, tx, agent, head.first_log_index)
    const task = await taskOf(scope, tx, rules, head)
    const facts = factsTightened(rules.facts, context)
    const at = task.timeOf({ timestamp: intended.timestamp ?? isoTime(now) })
    const labels = await intendedLabels(scope, tx, sealer, rules.agent.agent_id, intended)
    const decision = task.evaluate(withMemoryLabels(intended, labels), facts, { now: at })
    const step = (head?.max_step ?? 0) + 1
    const fields = { agent_id: rules.agent.agent_id, task_id, step, timestamp: isoTime(at) }
    return {
      evaluation_id: newId('eval', now),
      ...answerOf(decision, fields),
      action_digest: actionDigest(intended),
    }
  })
}

/** The decision with the bodies of POST /api/v1/logs that approve the step, or follow its remedies. */
function answerOf({ passed: _, approvals, policies, ...decision }: Decision, fields: LogBodyFields) {
  const remedied = withRemedies(decision.violations, fields)
  const violations = decision.violations.map((result) => remedied.get(result) ?? result)
  const answer = { ...decision, violations, policies: policies.map((result) => remedied.get(result) ?? result) }
  if (approvals.length === 0) return answer
  return { ...answer, approval_required: approvalsRequired(approvals, logBodies(fields)) }
}

/** The results whose remedy has steps, with bodies for the log in their place. */
function withRemedies(violations: readonly PolicyResult[], fields: LogBodyFields): Map<PolicyResult, PolicyResult> {
  const bodyOf = logBodies(fields)
  return new Map(
    violations.flatMap((result) => {
      const { violation_details: details } = result
      if (details?.remedy_steps === undefined) return []
      const remedy_steps = details.remedy_steps.map(({ step }) => bodyOf(step as Behavior))
      return [[result, { ...result, violation_details: { ...details, remedy_steps } }]]
    }),
  )
}

/** The rules of the agent, by its id or, for an API key, also by its `agent_key`. Rejects with NOT_FOUND. */
async function rulesFor(scope: Scope, tx: Transaction, key: KeyIdentity | null, named: string): Promise<AgentRules> {
  const ids = key === null ? [named] : [named, agentIdOf(key.first_key_hash, named)]
  const found = await loadRules(scope, tx, ids)
  const rules = found.find(({ agent }) => key === null || agent.api_key_id === key.key_id)
  if (rules === undefined) throw agentNotFound()
  return rules
}

/** The head of the task; null for a new one. Rejects with NOT_FOUND for a task of another agent. */
async function headOf(scope: Scope, tx: Transaction, { agent }: AgentRules, task_id: string | null) {
  const head = task_id === null ? null : await readHead(scope, tx, task_id)
  if (head !== null && head.agent_id !== agent.agent_id)
    throw new PlatformError('NOT_FOUND', `agent \`${agent.agent_key}\` has no task \`${task_id}\``)
  return head
}

async function taskOf(scope: Scope, tx: Transaction, { set }: AgentRules, head: StoredHead | null): Promise<Task> {
  const task = new Task(set)
  if (head !== null) for (const { step, at } of await readTail(scope, tx, head.task_id, 0)) task.add(step, at)
  return task
}

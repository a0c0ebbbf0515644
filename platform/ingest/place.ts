// Placing one step at the end of its task, or recognising it as one that was placed before.

import { evaluate, occasionOf, record } from '@svc/engine'
import { advance, occurredAt, type StoredHead } from '@svc/proof'
import type { LoggedStep } from '@svc/schemas'
import type { AgentRules } from '../agents/rulebook.js'
import { agentIdOf } from '../agents/store/agents.js'
import { PlatformError } from '../errors.js'
import { stepViolation } from '../incidents/violation.js'
import { type Batch, type Item, type Outcome, type PlacedEntry, stepKey } from './batch.js'
import { type AcceptedStep, acceptedStep, evaluationSummary, makeEntry } from './entry.js'
import type { CachedHistory } from './histories.js'
import { type Candidate, isSameStep } from './replay.js'
import { subjectsOf } from './subject.js'

/** Places `item`; the batch's heads, histories and candidates for replay then include it. */
export function place(batch: Batch, item: Item): Outcome {
  const { request } = item
  const head = batch.heads.get(request.task_id) ?? null
  const rules = writerOf(batch, item, head)
  if (rules instanceof PlatformError) return { error: rules }
  const step = acceptedStep(request, rules.agent.agent_id)
  const sent = {
    ...{ step, client_prev_hash: request.prev_hash ?? null, api_key_id: item.key.key_id, payload: item.payload },
    subjects: subjectsOf(request),
  }
  const candidates = batch.earlier.get(stepKey(request.task_id, step.step)) ?? []
  const again = candidates.find((candidate) => isSameStep(candidate, step, sent.client_prev_hash))
  if (again !== undefined) return { status: 200, replayed: true, entry: answerOf(again, again.violations) }
  const history = batch.histories.of(batch.org_id, request.task_id, rules.set)
  const placed = judgeAndMake(batch, sent, head, rules, history)
  remember(batch, placed, step, head, history)
  return { status: 201, replayed: false, entry: answerOf(placed, placed.violations) }
}

/** The agent a step is logged for: as sent, else the task's, else the key's only active one (docs/design/platform.md §2). */
export function namedAgent({ request, key }: Item): string | null {
  if (request.agent_id !== undefined) return request.agent_id
  return request.agent_key === undefined ? null : agentIdOf(key.first_key_hash, request.agent_key)
}

function writerOf(batch: Batch, item: Item, head: StoredHead | null): AgentRules | PlatformError {
  const { key, request } = item
  const named = namedAgent(item)
  const agent_id = head?.agent_id ?? named ?? batch.sole_agents.get(key.key_id) ?? null
  if (agent_id === null) {
    const message = 'the key serves several agents or none: name one as `agent_id` or `agent_key`'
    const errors = [{ path: 'agent_id', message }]
    return new PlatformError('INVALID', 'the step does not say which agent made it', { errors })
  }
  const rules = batch.agents.get(agent_id)
  if (rules === undefined || rules.agent.api_key_id !== key.key_id) {
    const what = head === null ? 'no such agent for this key: register it first' : `no such task \`${request.task_id}\``
    return new PlatformError('NOT_FOUND', what)
  }
  if (named !== null && named !== agent_id) {
    return new PlatformError('CONFLICT', `task \`${request.task_id}\` belongs to another agent, and a task has one`)
  }
  if (rules.agent.active) return rules
  return new PlatformError(
    'AGENT_DEACTIVATED',
    `agent \`${rules.agent.agent_key}\` is deactivated: an operator can reactivate it`,
  )
}

interface SentStep {
  readonly step: AcceptedStep
  readonly client_prev_hash: string | null
  readonly api_key_id: string
  readonly payload: Item['payload']
  readonly subjects: readonly string[]
}

/** Judges the step on the history before it, then makes its entry. */
function judgeAndMake(
  batch: Batch,
  sent: SentStep,
  head: StoredHead | null,
  rules: AgentRules,
  { history, last_at }: CachedHistory,
): PlacedEntry {
  const { step, api_key_id, client_prev_hash } = sent
  const now = occurredAt(step.timestamp, last_at)
  const decision = evaluate(rules.set, occasionOf(step), {
    step,
    agent: rules.facts,
    context: rules.facts,
    history,
    now,
  })
  const made = makeEntry(
    step,
    sent.payload(),
    {
      org_id: batch.org_id,
      agent_id: rules.agent.agent_id,
      api_key_id,
      policy_set: rules.digest,
      seq: (head?.seq ?? 0) + 1,
      prev_hash: head?.hash ?? '',
      log_index: batch.size + batch.placed.length,
      received_at: batch.received_at,
      occurred_at: now,
      client_prev_hash,
      after: batch.after,
    },
    evaluationSummary(decision, rules.policies),
  )
  const violations = decision.policies.flatMap(stepViolation)
  return { ...made, rules, violations, risk_score: decision.risk_score, subjects: sent.subjects }
}

function remember(
  batch: Batch,
  placed: PlacedEntry,
  step: AcceptedStep,
  head: StoredHead | null,
  history: CachedHistory,
) {
  const at = Date.parse(placed.entry.occurred_at)
  record(history.set, history.history, step, at)
  history.seq = placed.entry.seq
  history.last_at = at
  batch.heads.set(placed.entry.task_id, advance(head, placed.entry))
  const key = stepKey(placed.entry.task_id, step.step)
  batch.earlier.set(key, [...(batch.earlier.get(key) ?? []), placed])
  batch.placed.push(placed)
}

function answerOf({ entry }: Candidate, violations: LoggedStep['violations']): LoggedStep {
  const { log_id, task_id, step, seq, hash, prev_hash, log_index, received_at } = entry
  return { log_id, task_id, step, seq, hash, prev_hash, log_index, received_at, violations }
}

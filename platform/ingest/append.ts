// Appends one step to its task, or recognizes it as a replay of an earlier entry.

import { committedResults, Task, withMemoryLabels } from '@svc/engine'
import { actionDigest, advance, type StoredHead } from '@svc/proof'
import { effectOf, type LoggedStep } from '@svc/schemas'
import { agentDeactivated } from '../agents/errors.js'
import type { AgentRules } from '../agents/rulebook.js'
import { agentIdOf } from '../agents/store/agents.js'
import { invalid, PlatformError } from '../errors.js'
import { stepViolation } from '../incidents/violation.js'
import { type AppendedEntry, type Batch, type Item, type Outcome, rulesOf, stepKey } from './batch.js'
import { type AcceptedStep, acceptedStep, makeEntry } from './entry.js'
import { type Candidate, isSameStep } from './replay.js'
import { subjectsOf } from './subjects.js'

/** Appends the step; the heads, histories and earlier steps of the batch then include it. */
export function append(batch: Batch, item: Item): Outcome {
  const { request } = item
  const head = batch.heads.get(request.task_id) ?? null
  const rules = writerOf(batch, item, head)
  if (rules instanceof PlatformError) return { error: rules }
  const again = earlierEntry(batch, item)
  if (again !== undefined) {
    batch.origins.note(item, again.entry)
    return { status: 200, replayed: true, entry: answerOf(again, again.violations, request) }
  }
  const next = (head?.max_step ?? 0) + 1
  if (!Number.isSafeInteger(next) && (request.step ?? request.step_number) === undefined)
    return { error: noNumberLeft() }
  const step = acceptedStep(request, rules.agent.agent_id, next)
  const sent: SentStep = {
    step,
    client_prev_hash: request.prev_hash || null,
    api_key_id: item.key.key_id,
    payload: item.payload,
    subjects: subjectsOf(request),
  }
  const candidates = batch.earlier.get(stepKey(request.task_id, step.step)) ?? []
  const replay = candidates.find((candidate) => isSameStep(candidate, step, sent.client_prev_hash))
  if (replay !== undefined) return { status: 200, replayed: true, entry: answerOf(replay, replay.violations, request) }
  const task = batch.tasks.get(request.task_id) ?? new Task(rules.set)
  batch.tasks.set(request.task_id, task)
  const labels = batch.memories.labels(item, rules.agent.agent_id)
  const labelled = withMemoryLabels(step, labels)
  const appended = evaluateAndMake(batch, sent, labelled, head, rules, task)
  remember(batch, appended, labelled, head, task)
  batch.origins.note(item, appended.entry)
  if (labels !== null) batch.memories.note(appended.entry.log_index, labels)
  batch.memories.keep(item, rules.agent.agent_id, step, task.received)
  return { status: 201, replayed: false, entry: answerOf(appended, appended.violations, request) }
}

/** Readers of the log reject larger numbers. */
function noNumberLeft(): PlatformError {
  return invalid([{ path: 'step', message: 'is missing: the task has the largest number, 2^53-1' }])
}

/** The entry of a step that is sent again, by the identity that its sender gave it. */
function earlierEntry(batch: Batch, item: Item) {
  const known = batch.origins.entryOf(item)
  if (known === undefined) return undefined
  const candidates = batch.earlier.get(stepKey(item.request.task_id, known.step)) ?? []
  return candidates.find(({ entry }) => entry.log_index === known.log_index)
}

/** The agent that the request names, by id or by key (docs/design/platform.md §2); null when it names none. */
export function namedAgent({ request, key }: Item): string | null {
  if (request.agent_id !== undefined) return request.agent_id
  return request.agent_key === undefined ? null : agentIdOf(key.first_key_hash, request.agent_key)
}

/** The agent of the step: the agent of its task, else the one it names, else the only active agent of the key. */
function writerOf(batch: Batch, item: Item, head: StoredHead | null): AgentRules | PlatformError {
  const { key, request } = item
  const named = namedAgent(item)
  const agent_id = head?.agent_id ?? named ?? batch.sole_agents.get(key.key_id) ?? null
  if (agent_id === null) {
    const message = 'name the agent, here or as `agent_key`: the API key has several agents or none'
    return invalid([{ path: 'agent_id', message }])
  }
  const rules = rulesOf(batch, agent_id, request.task_id)
  if (rules === undefined || rules.agent.api_key_id !== key.key_id) {
    const message =
      head === null
        ? `this API key has no agent \`${request.agent_key ?? agent_id}\`: register it first`
        : `this API key has no task \`${request.task_id}\``
    return new PlatformError('NOT_FOUND', message)
  }
  if (named !== null && named !== agent_id) {
    return new PlatformError(
      'CONFLICT',
      `task \`${request.task_id}\` belongs to another agent: use another \`task_id\``,
    )
  }
  if (rules.agent.active || request.traced === true) return rules
  return agentDeactivated(rules.agent.agent_key)
}

interface SentStep {
  readonly step: AcceptedStep
  readonly client_prev_hash: string | null
  readonly api_key_id: string
  readonly payload: Item['payload']
  readonly subjects: readonly string[]
}

/** Evaluates the step with the history before it, then makes its entry, which holds the step as it was sent. */
function evaluateAndMake(
  batch: Batch,
  sent: SentStep,
  labelled: AcceptedStep,
  head: StoredHead | null,
  rules: AgentRules,
  task: Task,
): AppendedEntry {
  const { step, api_key_id, client_prev_hash } = sent
  const evaluated = task.evaluateRecorded(labelled, rules.facts)
  const { decision, at } = evaluated
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
      log_index: batch.size + batch.appended.length,
      received_at: batch.received_at,
      occurred_at: at,
      client_prev_hash,
      after: batch.after,
    },
    committedResults(evaluated, rules.policies),
  )
  const violations = decision.policies.flatMap((result) => stepViolation(result, decision))
  const evaluation_id = evaluationOf(step)
  const effect = effectOf(step)
  const gates = effect === 'executed' ? task.approvingGates(labelled, rules.facts, evaluated) : null
  const approved = gates === null || gates.size === 0 ? null : { action_digest: actionDigest(labelled), gates }
  const found = { rules, violations, risk_score: decision.risk_score, effect, approved }
  return { ...made, ...found, evaluation_id, subjects: sent.subjects }
}

/** The evaluation that a local engine made of the step (docs/design/engine.md §7). */
function evaluationOf({ meta }: AcceptedStep): string | null {
  const { evaluation_id } = Object(meta?.['svc.eval']) as { evaluation_id?: unknown }
  return typeof evaluation_id === 'string' && /^[ -~]{1,200}$/.test(evaluation_id) ? evaluation_id : null
}

function remember(
  batch: Batch,
  appended: AppendedEntry,
  step: AcceptedStep,
  head: StoredHead | null,
  task: Task,
): void {
  task.add(step)
  batch.heads.set(appended.entry.task_id, advance(head, appended.entry))
  const key = stepKey(appended.entry.task_id, step.step)
  batch.earlier.set(key, [...(batch.earlier.get(key) ?? []), appended])
  batch.appended.push(appended)
}

function answerOf(
  { entry }: Candidate,
  violations: LoggedStep['violations'],
  { warnings }: Item['request'],
): LoggedStep {
  const { log_id, task_id, step, seq, hash, prev_hash, log_index, received_at } = entry
  return {
    log_id,
    task_id,
    step,
    seq,
    hash,
    prev_hash,
    log_index,
    received_at,
    violations,
    ...(warnings && { warnings: [...warnings] }),
  }
}

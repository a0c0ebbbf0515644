// The steps of a dry run that violate the given policy, each once.
import { type EvaluatedStep, stopsStep } from '@svc/engine/parts'
import { type DryRunReport, isBlocked, type Policy, type PolicyResult } from '@svc/schemas'

type Violations = NonNullable<DryRunReport['violations']>
type Listed = Violations['listed'][number]

export interface ViolationList {
  readonly add: (evaluated: EvaluatedStep) => void
  readonly result: () => Violations
}

const maxListed = 100

/** `agents` are the agents by task. Policies in effect with the name of the policy count with it. */
export function createViolationList(
  policy: Pick<Policy, 'name' | 'severity' | 'scope'>,
  agents: ReadonlyMap<string, string>,
): ViolationList {
  const listed: Listed[] = []
  const counts = { total: 0, did_not_happen: 0 }
  return {
    add: ({ task_id, step, is_end, after, before }) => {
      const found = after.violations.find(({ name }) => name === policy.name)
      if (found === undefined) return
      const happened = !isBlocked(step)
      counts.total += 1
      if (!happened) counts.did_not_happen += 1
      if (listed.length === maxListed) return
      listed.push({
        task_id,
        agent_id: agents.get(task_id) ?? '',
        step: is_end ? null : (step.step ?? null),
        step_type: step.step_type,
        verb: step.verb ?? null,
        step_name: step.step_name ?? null,
        happened,
        before: before?.outcome ?? 'allow',
        after: after.outcome,
        effect: effectOf(policy, found, after.outcome),
        reason: found.violation_details?.reason ?? '',
      })
    },
    result: () => ({ ...counts, listed }),
  }
}

function effectOf(
  policy: Pick<Policy, 'severity' | 'scope'>,
  result: PolicyResult,
  outcome: Listed['after'],
): Listed['effect'] {
  if (result.waived) return 'waived'
  if (result.mode === 'observe') return 'observed'
  if (!stopsStep(policy, result)) return 'warns'
  return outcome === 'ask' ? 'asks' : 'blocks'
}

// A replay step by step, and the same steps evaluated one by one as `svc explain` does.
import { onAgent, type PolicySet, Task } from '@svc/engine'
import { createReplay, policiesOfManifests, type ReplayLine, type ReplayOptions } from '@svc/engine/parts'
import type { JsonMap, Manifest, Step } from '@svc/schemas'

/** The answer on one step. */
export interface StepAnswer {
  readonly task_id: string
  readonly outcome: string
  readonly violated: readonly string[]
}

/** The answers of a replay, and its result. */
export function replayAnswers(lines: readonly ReplayLine[], options: Omit<ReplayOptions, 'onStep'>) {
  const answers: StepAnswer[] = []
  const replay = createReplay({
    ...options,
    onStep: ({ task_id, after, is_end }) => {
      // The end through /end_task is not a step.
      if (is_end) return
      answers.push({ task_id, outcome: after.outcome, violated: namesOf(after.policies) })
    },
  })
  for (const line of lines) replay.add(line)
  return { answers, result: replay.finish() }
}

/** The same with `explain`, and how often each policy was applicable. Lines that are no steps are left out. */
export function explainedAnswers(lines: readonly ReplayLine[], manifest: Manifest, given?: JsonMap) {
  const tasks = new Map<string, { readonly first: Step; readonly task: Task }>()
  const applicable = new Map<string, number>()
  const answers: StepAnswer[] = []
  const sets = new Map<string, PolicySet>()
  const setFor = (agent: JsonMap) => {
    const key = JSON.stringify([agent.risk_classification, agent.agent_key])
    const set = sets.get(key) ?? onAgent(manifest, agent).set
    sets.set(key, set)
    return set
  }
  for (const line of lines) {
    if (line.kind !== 'step') continue
    const { step } = line
    const { task_id = '' } = step
    const { first, task } = tasks.get(task_id) ?? { first: step, task: new Task(setFor(given ?? agentIn(step))) }
    const { outcome, policies } = task.explain(step, given ?? agentIn(first))
    for (const { name, answer } of policies)
      if (answer !== 'not_applicable') applicable.set(name, (applicable.get(name) ?? 0) + 1)
    answers.push({ task_id, outcome, violated: namesOf(policies) })
    task.add(step)
    tasks.set(task_id, { first, task })
  }
  return { answers, applicable }
}

/** The agent of a task that begins with the step. */
function agentIn({ meta }: Step): JsonMap {
  return (meta?.agent as JsonMap | undefined) ?? {}
}

export function policiesIn(manifest: Manifest) {
  return policiesOfManifests([{ manifest, file: 'manifest.yaml', lines: [] }])
}

/** The names of the violated policies. */
export function namesOf(policies: readonly { readonly name: string; readonly violated: boolean }[]): string[] {
  return policies.filter(({ violated }) => violated).map(({ name }) => name)
}

// A replay step by step, and the same steps evaluated one by one as `svc explain` does.
import {
  createReplay,
  explain,
  type History,
  newHistory,
  occasionIn,
  onAgent,
  type PolicySet,
  policiesOfManifests,
  type ReplayLine,
  type ReplayOptions,
  record,
  timesOf,
} from '@svc/engine'
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
    onStep: ({ task_id, after, occasion }) => {
      // The end through /end_task is not a step.
      if (occasion === 'end') return
      answers.push({ task_id, outcome: after.outcome, violated: namesOf(after.policies) })
    },
  })
  for (const line of lines) replay.add(line)
  return { answers, result: replay.finish() }
}

interface ExplainedTask {
  /** Its steps, and its history. */
  past: Step[]
  set: PolicySet
  history: History
}

/** The same with `explain`, and how often each policy was applicable. Lines that are no steps are left out. */
export function explainedAnswers(lines: readonly ReplayLine[], manifest: Manifest, given?: JsonMap) {
  const tasks = new Map<string, ExplainedTask>()
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
    const known = tasks.get(task_id)
    const task = known ?? newTask(setFor(given ?? agentIn(step)))
    const now = timesOf([...task.past, step]).at(-1) ?? 0
    const agent = given ?? agentIn(task.past[0] ?? step)
    const context = { step, agent, context: agent, history: task.history, now }
    const { outcome, policies } = explain(task.set, occasionIn(task.history, step), context)
    for (const { name, answer } of policies)
      if (answer !== 'not_applicable') applicable.set(name, (applicable.get(name) ?? 0) + 1)
    answers.push({ task_id, outcome, violated: namesOf(policies) })
    record(task.set, task.history, step, now)
    task.past.push(step)
    tasks.set(task_id, task)
  }
  return { answers, applicable }
}

function newTask(set: PolicySet): ExplainedTask {
  return { past: [], set, history: newHistory(set) }
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

// Plays a path of the corpus through the real local engine in this process, as an agent would that asks before each step.
import type {
  AgentRegistration,
  ApprovalRequired,
  Behavior,
  EvaluateRequest,
  JsonMap,
  RecordRequest,
} from '@svc/schemas'
import type { LocalEvaluation } from '../../engine/serve/decisions/local-evaluation.js'
import type { LocalEngine } from '../../engine/serve/engine.js'
import { baselineVersion } from '../../engine/source/baseline.js'
import { loadVersions } from '../../engine/source/load.js'
import type { LoadedPolicies } from '../../engine/source/source.js'
import { settle } from '../../engine/source/versions.js'
import type { TraceLine } from '../../engine/trace/sinks/sink.js'
import { engineHere } from '../support/engine/local-engine.js'
import type { Path, PathStep, TaskPath } from './corpus.js'

export interface ManifestText {
  readonly path: string
  readonly text: string
}

export interface Terms {
  readonly policies: LoadedPolicies
  /** The registration of the agent. */
  readonly agent: JsonMap
  /** The agent declares the tools of each task: in the context and at its start. Otherwise it declares none. */
  readonly tools_per_task: boolean
}

/** Policies that one step violates; those that a person approved before it are not among them. */
export interface Report {
  /** Index of the task in the path. */
  readonly task: number
  /** Index of the step in the task. */
  readonly step: number
  readonly injected: boolean
  readonly policies: readonly string[]
}

export interface Played {
  /** Names of the policies that stopped a task, at most one step each. */
  readonly blocked: readonly string[]
  /** Names of the policies that asked a person, one for each question. */
  readonly asked: readonly string[]
  /** The steps that violate a policy; of an attack only those that are injected. */
  readonly reported: readonly Report[]
  /** A step that does the damage was recorded. */
  readonly harm_done: boolean
  /** The lines that the engine wrote. */
  readonly trace: readonly TraceLine[]
}

/** A Monday morning: each played step takes a second. */
const begin = Date.UTC(2026, 0, 5, 9)
const stepMs = 1000
/** A person approves one step this often; a policy that still asks then counts as one that blocks. */
const maxRounds = 5

/** The policies of these manifests as `svc serve` puts them in effect; null is the baseline. Throws when a part is rejected. */
export function policiesOf(manifests: readonly (ManifestText | null)[], agent_key: string | null): LoadedPolicies {
  const files = manifests.flatMap((manifest) => {
    if (manifest === null) return []
    return [{ source: 'file' as const, ...manifest, sha: '0'.repeat(40), named: true }]
  })
  const { versions, remarks } = settle(files, new Map())
  const all = [...(manifests.includes(null) ? [baselineVersion()] : []), ...versions.values()]
  const loaded = loadVersions('file', all, remarks, agent_key, begin)
  const rejected = [...loaded.dropped, ...loaded.ignored]
  if (rejected.length > 0) throw new Error(rejected.map(({ name, reason }) => `\`${name}\`: ${reason}`).join('\n'))
  return loaded
}

interface World extends Terms {
  readonly engine: LocalEngine
  readonly agent_id: string
  /** Moves the clock to the next step. */
  readonly tick: () => void
  readonly blocked: string[]
  readonly asked: string[]
  readonly reported: Report[]
}

/** Plays the tasks of a path one after the other, by one agent at one engine that has seen nothing before. */
export async function play(path: Path, terms: Terms): Promise<Played> {
  let now = begin
  const { policies } = terms
  const source = { current: () => policies, reload: async () => policies, close: async () => undefined }
  const { engine, trace } = engineHere({ source, clock: () => now })
  const { agent_id } = engine.registerAgent(terms.agent as AgentRegistration)
  const tick = () => {
    now += stepMs
  }
  const world: World = { ...terms, engine, agent_id, tick, blocked: [], asked: [], reported: [] }
  let harm_done = false
  for (const [index, task] of path.tasks.entries()) {
    const end = await playTask(world, task, index)
    harm_done ||= end.harm_done
    // What an injected step would have left behind is not there for the next task to follow.
    if (end.attack_stopped) break
  }
  const { blocked, asked, reported } = world
  const counted = path.kind === 'honest' ? reported : reported.filter(({ injected }) => injected)
  return { blocked, asked, reported: counted, harm_done, trace }
}

interface TaskEnd {
  /** A step that does the damage was recorded. */
  readonly harm_done: boolean
  /** An injected step was not allowed. */
  readonly attack_stopped: boolean
}

/** Plays a task until its end or until a step is not allowed. */
async function playTask(world: World, { steps, tools }: TaskPath, index: number): Promise<TaskEnd> {
  const { engine, agent, agent_id, tools_per_task } = world
  const task_id = `task-${index + 1}`
  const declared_tools = [...tools]
  const context = {
    agent_id,
    environment: String(agent.environment),
    task_id,
    ...(tools_per_task && { declared_tools }),
  }
  let harm_done = false
  for (const [place, one] of steps.entries()) {
    const step = tools_per_task && one.step.step_type === 'task.start' ? declaring(one.step, declared_tools) : one.step
    world.tick()
    const evaluation = await decisionOn(world, { ...one, step }, context)
    const policies = evaluation.violations.map(({ name }) => name)
    if (policies.length > 0) world.reported.push({ task: index, step: place, injected: one.injected, policies })
    if (evaluation.blocked) {
      await engine.endTask({ task_id })
      return { harm_done, attack_stopped: one.injected }
    }
    const { evaluation_id } = evaluation
    await engine.record({ step: { ...step, agent_id, task_id, meta: { evaluation_id } } })
    harm_done ||= one.harm
  }
  return { harm_done, attack_stopped: false }
}

function declaring(start: Behavior, declared_tools: readonly string[]): Behavior {
  return { ...start, properties: { ...start.properties, declared_tools: [...declared_tools] } }
}

/** The decision on a step after a person has answered the questions that it raises. */
async function decisionOn(world: World, { step, injected }: PathStep, context: EvaluateRequest['context']) {
  const { output: _output, ...intended } = step
  for (let round = 0; ; round += 1) {
    const evaluation = await world.engine.evaluate({ intended, context })
    const questions = questionsOf(evaluation)
    if (questions.length === 0 || round === maxRounds) {
      if (evaluation.blocked) world.blocked.push(...blockingOf(evaluation))
      return evaluation
    }
    world.asked.push(...questions.map(({ policy_id }) => nameOf(evaluation, policy_id)))
    // The person knows what the user wanted, and declines every step of the attacker.
    if (injected) return evaluation
    for (const { gate } of questions) await world.engine.record(gate as unknown as RecordRequest)
  }
}

/** The approvals that a step lacks; empty unless they are all that it lacks. */
function questionsOf({ approval_required = [] }: LocalEvaluation): readonly ApprovalRequired[] {
  return approval_required
}

/** Names of the policies that block: violated, critical, enforced and not waived. */
function blockingOf({ violations }: LocalEvaluation): string[] {
  const blocking = violations.filter(
    ({ severity, mode, waived }) => severity === 'critical' && mode === 'enforce' && !waived,
  )
  return blocking.map(({ name }) => name)
}

function nameOf({ violations }: LocalEvaluation, id: number): string {
  return violations.find(({ policy_id }) => policy_id === id)?.name ?? `policy ${id}`
}

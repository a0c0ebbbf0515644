// The protection corpus: what honest tasks and attacks of five domains do, step by step, written without a policy in mind.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Behavior, JsonMap } from '@svc/schemas'
import { parse } from 'yaml'
import {
  type AttackKind,
  type Evasion,
  type Goal,
  type HonestTask,
  mergedMaps,
  problemsOf,
  type Tool,
  type ToolCall,
  type Variant,
  type Written,
} from './corpus-check.js'

/** What an agent does in one task, or in the two tasks of an attack that passes through its memory. */
export interface Path {
  readonly domain: string
  /** Unique in its domain: the honest task, or `<goal>/<honest task>/<variant>`. */
  readonly id: string
  readonly kind: 'honest' | AttackKind
  readonly variant: null | 'plain' | 'evasive'
  /** How an evasive attack hides its values. */
  readonly how: null | Evasion
  readonly tasks: readonly TaskPath[]
}

export interface TaskPath {
  /** The tools that the honest task needs. */
  readonly tools: readonly string[]
  readonly steps: readonly PathStep[]
}

export interface PathStep {
  readonly step: Behavior
  /** An instruction of the attacker caused the step. */
  readonly injected: boolean
  /** The step does the damage. */
  readonly harm: boolean
}

export interface Domain {
  readonly name: string
  /** The registration of the agent. */
  readonly agent: JsonMap
  readonly tools: Readonly<Record<string, Tool>>
  readonly honest: readonly HonestTask[]
  readonly goals: readonly Goal[]
  readonly paths: readonly Path[]
}

// The files are read where they are written, also by the compiled program.
const folder = new URL(import.meta.url.includes('/test/dist/') ? '../../protection/' : './', import.meta.url)

/** The domains of the corpus that exist, in the order of their names. */
export function domainNames(): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/tools.yaml`, folder)))
    .map(({ name }) => name)
    .sort()
}

/** A domain with all its paths, honest ones first. Throws an error that lists every problem of its files. */
export function readDomain(name: string): Domain {
  const read = (file: string): unknown => parse(readFileSync(new URL(`${name}/${file}.yaml`, folder), 'utf8'))
  return domainOf(name, { tools: read('tools'), honest: read('honest'), attacks: read('attacks') })
}

/** The same from the parsed files. */
export function domainOf(name: string, files: Readonly<Record<keyof Written, unknown>>): Domain {
  const problems = problemsOf(files)
  if (problems.length > 0) throw new Error(problems.map((problem) => `${name}/${problem}`).join('\n'))
  const { tools, honest, attacks } = files as Written
  const tasks = new Map(honest.map((task) => [task.id, task]))
  const one = { domain: name, tools: tools.tools, task: (id: string) => tasks.get(id) as HonestTask }
  const paths = [
    ...honest.map((task) => honestPath(one, task)),
    ...attacks.goals.flatMap((goal) => goal.tasks.flatMap((id) => attackPaths(one, goal, one.task(id)))),
  ]
  return { name, ...tools, honest, goals: attacks.goals, paths }
}

interface Source {
  readonly domain: string
  readonly tools: Readonly<Record<string, Tool>>
  /** An honest task that exists. */
  readonly task: (id: string) => HonestTask
}

function honestPath({ domain, tools }: Source, task: HonestTask): Path {
  return { domain, id: task.id, kind: 'honest', variant: null, how: null, tasks: [taskPath(tools, task)] }
}

function attackPaths(source: Source, { id, kind, plain, evasive }: Goal, task: HonestTask): Path[] {
  const path = (variant: 'plain' | 'evasive', how: Evasion | null, written: Variant): Path => {
    const { injection, calls, later } = written
    const first = taskPath(source.tools, task, { after: task.carrier?.call ?? -1, injection, calls })
    const second = later && taskPath(source.tools, source.task(later.task), { after: -1, calls: later.calls })
    const tasks = second === undefined ? [first] : [first, second]
    return { domain: source.domain, id: `${id}/${task.id}/${variant}`, kind, variant, how, tasks }
  }
  return [path('plain', null, plain), path('evasive', evasive.how, evasive)]
}

/** Calls of an attacker in an honest task. */
interface Injected {
  /** Index of the honest call that they follow; -1 puts them before all. */
  readonly after: number
  /** Text that the carrier of the task returns beside its own. */
  readonly injection?: string
  readonly calls: readonly ToolCall[]
}

function taskPath(tools: Source['tools'], task: HonestTask, attack?: Injected): TaskPath {
  const steps: PathStep[] = []
  const spawned = new Map<unknown, number>()
  const honest = (step: Behavior) => steps.push({ step, injected: false, harm: false })
  const called = (step: Behavior) => {
    honest(modelCall(task.user))
    honest(step)
  }
  const inject = (index: number) => {
    if (attack?.after !== index) return
    for (const call of attack.calls) {
      honest(modelCall(task.user))
      steps.push({
        step: spawnNamed(stepOf(tools, call), spawned, steps.length),
        injected: true,
        harm: call.harm ?? false,
      })
    }
  }
  honest({ step_type: 'task.start' })
  honest(userMessage(task.user))
  inject(-1)
  for (const [index, call] of task.calls.entries()) {
    if ('user' in call) honest(userMessage(call.user))
    else called(spawnNamed(stepOf(tools, carrying(task, index, call, attack?.injection)), spawned, steps.length))
    inject(index)
  }
  called({
    step_type: 'step.message',
    verb: 'POST',
    input: { content: task.reply },
    properties: { counterpart: { kind: 'user' } },
  })
  honest({ step_type: 'task.end' })
  return { tools: task.tools, steps }
}

// Messages of the user have no name, because no tool sends them.
function userMessage(content: string): Behavior {
  return { step_type: 'step.message', verb: 'GET', output: { content }, properties: { counterpart: { kind: 'user' } } }
}

/** The model decides each act. Its name is not the one of a tool. */
function modelCall(content: string): Behavior {
  return {
    step_type: 'step.model',
    verb: 'POST',
    step_name: 'model-1',
    input: { messages: [{ role: 'user', content }] },
  }
}

function stepOf(tools: Source['tools'], { call, input, output, properties = {} }: ToolCall): Behavior {
  const { step_type, verb, properties: own = {} } = (tools[call] as Tool).step
  return {
    step_type,
    ...(verb === undefined ? {} : { verb }),
    step_name: call,
    input: { ...input },
    output: { ...output },
    properties: { ...mergedMaps(own, properties) },
  }
}

/** The step of a sub-agent names the step before its first one, which started it, whatever number was written. */
function spawnNamed(step: Behavior, spawned: Map<unknown, number>, before: number): Behavior {
  const subagent = (step.properties?.svc as JsonMap | undefined)?.subagent as JsonMap | undefined
  if (subagent === undefined) return step
  const spawn_step = spawned.get(subagent.id) ?? before
  spawned.set(subagent.id, spawn_step)
  return { ...step, properties: { ...mergedMaps(step.properties ?? {}, { svc: { subagent: { spawn_step } } }) } }
}

/** The call, with the injection appended to its output if it is the carrier of the task. */
function carrying({ carrier }: HonestTask, index: number, call: ToolCall, injection: string | undefined): ToolCall {
  if (injection === undefined || carrier === undefined || carrier.call !== index) return call
  const output = structuredClone(call.output) as Record<string, unknown>
  const segments = carrier.field.split('.')
  const last = segments.pop() as string
  const parent = segments.reduce((map, name) => map[name] as Record<string, unknown>, output)
  parent[last] = `${String(parent[last])}\n\n${injection}`
  return { ...call, output }
}

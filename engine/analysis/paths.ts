// A shortest path of steps to a goal, found by asking the engine before each step, as an agent does.
import type { JsonMap, Step } from '@svc/schemas'
import { approvalsRequired } from '../policy/approval.js'
import { compile } from '../policy/compile.js'
import type { Decision } from '../policy/evaluate.js'
import type { PolicyInput } from '../policy/policy-input.js'
import { Task } from '../task/task.js'

export interface FoundPath {
  /** The steps in order; the last one is the goal. */
  readonly steps: readonly Step[]
  readonly agent: JsonMap
  /** Time of the first step, ms since 1970; each other step follows a second later. */
  readonly begin: number
}

export interface Search {
  readonly policies: readonly PolicyInput[]
  /** Steps that reach the goal. */
  readonly goals: readonly Step[]
  /** Steps that may have to come before; the first one begins the task. */
  readonly others: readonly Step[]
  readonly agent: JsonMap
}

/** Chosen so that the search of one goal takes some tens of milliseconds at most. */
const maxNodes = 150
const maxDepth = 8
const stepMs = 1000
const monday = Date.UTC(2026, 0, 5, 9)
const week = Array.from({ length: 168 }, (_, hour) => monday + hour * 3_600_000)

interface World {
  readonly agent: JsonMap
  readonly begin: number
}

interface Node {
  readonly task: Task
  readonly steps: readonly Step[]
}

/** A path for an agent; null when none was found, which proves nothing. */
export function shortestPath({ policies, goals, others, agent }: Search): FoundPath | null {
  const start: Node = { task: new Task(compile(policies)), steps: [] }
  const isOpen = (begin: number) =>
    goals.some((step) => !codesOf(decisionOn({ agent, begin }, start, step)).includes('OUTSIDE_HOURS'))
  const world = { agent, begin: week.find(isOpen) ?? monday }
  const first = others.slice(0, 1).map((step) => follow(world, start, step) ?? start)
  const steps = breadthFirst(world, first, goals, others)
  return steps === null ? null : { steps, agent, begin: world.begin }
}

function breadthFirst(world: World, first: readonly Node[], goals: readonly Step[], others: readonly Step[]) {
  const nodes = [...first]
  for (const node of nodes) {
    const decisions = goals.map((step) => decisionOn(world, node, step))
    const reached = goals[decisions.findIndex(({ blocked }) => !blocked)]
    if (reached !== undefined) return [...node.steps, reached]
    if (node.steps.length >= maxDepth) continue
    for (const step of distinct([...decisions.flatMap(gatesFor), ...others, ...goals])) {
      const next = nodes.length < maxNodes ? follow(world, node, step) : null
      if (next !== null) nodes.push(next)
    }
  }
  return null
}

function decisionOn({ agent, begin }: World, { task, steps }: Node, step: Step): Decision {
  return task.evaluate(step, agent, { now: begin + steps.length * stepMs })
}

/** The node after a step; null for a step that is not allowed. */
function follow(world: World, node: Node, step: Step): Node | null {
  if (decisionOn(world, node, step).blocked) return null
  const task = node.task.copy()
  task.add(step, world.begin + node.steps.length * stepMs)
  return { task, steps: [...node.steps, step] }
}

function codesOf({ violations }: Decision): unknown[] {
  return violations.map(({ violation_details }) => violation_details?.code)
}

/** The gates that the violations and the approvals ask for. */
function gatesFor({ violations, approvals }: Decision): Step[] {
  const bodies = violations.flatMap(({ violation_details }) => violation_details?.remedy_steps ?? [])
  const gates = approvalsRequired(approvals, (step) => ({ step }) as never).map(({ gate }) => gate)
  return [...bodies, ...gates].map((body) => (body as { readonly step: Step }).step)
}

function distinct(steps: readonly Step[]): readonly Step[] {
  return [...new Map(steps.map((step) => [JSON.stringify(step), step])).values()]
}

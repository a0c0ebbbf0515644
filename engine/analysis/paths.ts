// A shortest path of steps to a goal, found by asking the engine before each step, as an agent does.
import type { JsonMap, Step } from '@svc/schemas'
import { levelApplies, type RiskLevel } from '../agent/risk.js'
import { approvalsRequired } from '../policy/approval.js'
import { compile, type PolicySet } from '../policy/compile.js'
import { type Decision, evaluate } from '../policy/evaluate.js'
import { copyHistory, newHistory, occasionIn, record } from '../policy/history.js'
import type { PolicyInput } from '../policy/policy-input.js'
import type { History } from '../rules/rule.js'

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
  /** Steps that may have to come before. */
  readonly others: readonly Step[]
  /** Facts of the agent that these steps need. */
  readonly agent: JsonMap
}

/** Chosen so that the search of one goal takes some tens of milliseconds at most. */
const maxNodes = 150
const maxDepth = 8
const stepMs = 1000
const monday = Date.UTC(2026, 0, 5, 9)
const hourMs = 3_600_000
const levels: readonly RiskLevel[] = ['unclassified', 'limited', 'minimal', 'high']

/** A path for an agent of the first risk level that has one; null when none was found, which proves nothing. */
export function shortestPath({ policies, goals, others, agent }: Search): FoundPath | null {
  for (const level of levels) {
    const applicable = policies.filter(({ risk_classification }) => levelApplies(risk_classification, level))
    const set = compile(applicable)
    const own = { ...agent, risk_classification: agent.risk_classification ?? level }
    const begin = beginFor(set, goals, own)
    const steps = breadthFirst({ set, agent: own, begin }, goals, others)
    if (steps !== null) return { steps, agent: own, begin }
    // Other levels differ only for policies that read the level.
    if (!policies.some(readsLevel)) return null
  }
  return null
}

function readsLevel({ rule_type, params, risk_classification }: PolicyInput): boolean {
  return risk_classification !== null || /classification/.test(rule_type + JSON.stringify(params))
}

interface World {
  readonly set: PolicySet
  readonly agent: JsonMap
  readonly begin: number
}

/** The first hour of a week in which no goal is outside the hours that a policy allows. */
function beginFor(set: PolicySet, goals: readonly Step[], agent: JsonMap): number {
  const hours = Array.from({ length: 168 }, (_, hour) => monday + hour * hourMs)
  const is_open = (begin: number) =>
    goals.some((step) => {
      const history = newHistory(set)
      const { policies } = evaluate(set, occasionIn(history, step), {
        step,
        agent,
        context: agent,
        history,
        now: begin,
      })
      return !policies.some(({ violation_details }) => violation_details?.code === 'OUTSIDE_HOURS')
    })
  return hours.find(is_open) ?? monday
}

interface Node {
  readonly history: History
  readonly path: readonly Step[]
}

function breadthFirst(world: World, goals: readonly Step[], others: readonly Step[]): readonly Step[] | null {
  let level: Node[] = [firstNode(world, others)]
  const known = new Set<string>()
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const next: Node[] = []
    for (const node of level) {
      const { reached, remedies } = tryGoals(world, node, goals)
      if (reached !== null) return [...node.path, reached]
      for (const step of distinct([...remedies, ...others, ...goals])) {
        const after = known.size < maxNodes ? follow(world, node, step) : null
        const key = after === null ? '' : keyOf(after.history)
        if (after === null || known.has(key)) continue
        known.add(key)
        next.push(after)
      }
    }
    level = next
  }
  return null
}

/** A task begins with its start, which declares the tools, where the policies allow it. */
function firstNode(world: World, others: readonly Step[]): Node {
  const empty = { history: newHistory(world.set), path: [] }
  const start = others.find(({ step_type }) => step_type === 'task.start')
  return (start === undefined ? null : follow(world, empty, start)) ?? empty
}

function decisionOn({ set, agent, begin }: World, { history, path }: Node, step: Step): Decision {
  return evaluate(set, occasionIn(history, step), {
    step,
    agent,
    context: agent,
    history,
    now: begin + path.length * stepMs,
  })
}

/** The node after a step; null for a step that is not allowed. */
function follow(world: World, node: Node, step: Step): Node | null {
  if (decisionOn(world, node, step).blocked) return null
  const history = copyHistory(world.set, node.history)
  record(world.set, history, step, world.begin + node.path.length * stepMs)
  return { history, path: [...node.path, step] }
}

/** The goal that is allowed, or the gates that its violations and approvals ask for. */
function tryGoals(world: World, node: Node, goals: readonly Step[]) {
  const remedies: Step[] = []
  for (const step of goals) {
    const decision = decisionOn(world, node, step)
    if (!decision.blocked) return { reached: step, remedies }
    const bodies = decision.violations.flatMap(({ violation_details }) => violation_details?.remedy_steps ?? [])
    const gates = approvalsRequired(decision.approvals, (step) => ({ step }) as never).map(({ gate }) => gate)
    for (const body of [...bodies, ...gates]) remedies.push((body as { readonly step: Step }).step)
  }
  return { reached: null, remedies }
}

function distinct(steps: readonly Step[]): readonly Step[] {
  return [...new Map(steps.map((step) => [JSON.stringify(step), step])).values()]
}

/** Times and numbers of steps, which differ in each history, and which few rules read. */
const ignored = new Set(['step', 'at', 'number', 'order'])

/** A text that is equal for histories that the policies cannot distinguish, apart from times. */
function keyOf({ states, tools, others, length }: History): string {
  return JSON.stringify([states, tools, others], (key, value: unknown) => {
    if (ignored.has(key)) return undefined
    if (key === 'position' && typeof value === 'number') return length - value
    if (value instanceof Map) return [...value]
    return value instanceof Set ? [...value] : value
  })
}

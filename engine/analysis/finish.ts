// Tells if the actions that critical policies target, and the end of a task, can still happen.
import type { Step } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { blockersOf, kindsBefore, type Ways, waysUnder } from './deadlock.js'
import { type AnalysisFinding, type Examined, findingAbout, placeInWords, valuesIn } from './examined.js'
import { stepInWords } from './fact-words.js'
import type { Together } from './formula.js'
import type { StepFacts } from './literal.js'
import { type FoundPath, shortestPath } from './paths.js'
import { stepOf } from './scenario.js'
import { factsOfPattern, kindsOverlap } from './step-facts.js'

export interface Goal {
  /** The step in words. */
  readonly step: string
  /** A shortest path; null where none was found. */
  readonly path: FoundPath | null
  /** Names of the policies that are proven to block every path. */
  readonly blocked_by: readonly string[]
}

export interface Finish {
  readonly goals: readonly Goal[]
  readonly findings: readonly AnalysisFinding[]
}

/** Goals that are followed; a manifest for a large agent names about as many tools. */
const maxGoals = 40

export function finishOf(policies: readonly Examined[]): Finish {
  const blocking = policies.filter(canStop)
  if (blocking.length === 0) return { goals: [], findings: [] }
  // An approval that is asked for can be given without a policy that evaluates it.
  const hard = blocking.filter(({ policy }) => policy.approval == null)
  const [ways, hard_ways] = [waysUnder(blocking), waysUnder(hard)]
  const found = new Map<string, AnalysisFinding>()
  const goals = goalsOf(blocking).map((facts): Goal => {
    const step = stepInWords(facts)
    const core = blockersOf(facts, hard, hard_ways)
    if (core === null) return { step, path: pathTo(facts, blocking, ways), blocked_by: [] }
    // One policy may forbid a step, whatever comes before it, and two that exclude each other on it are a contradiction.
    const is_outright = waysUnder(core)(facts).length === 0
    const key = core.map(({ index }) => index).join(' ')
    if (core.length > 2 || !is_outright) found.set(key, found.get(key) ?? findingOn(step, core))
    return { step, path: null, blocked_by: core.map(({ policy }) => policy.name) }
  })
  return { goals, findings: [...found.values()] }
}

function canStop({ policy }: Examined): boolean {
  return policy.severity === 'critical' && policy.mode !== 'observe' && policy.scope === 'step_execution'
}

function findingOn(step: string, core: readonly Examined[]): AnalysisFinding {
  const [first, ...others] = core as [Examined, ...Examined[]]
  const more = others.length > 4 ? ` and ${others.length - 4} more` : ''
  const named = others.slice(0, 4).map((other) => `${quote(other.policy.name)} (${placeInWords(other, first)})`)
  const together = named.length === 0 ? 'it blocks' : `together with ${named.join(' and ')}${more} it blocks`
  const message = `${together} every way to a step that is ${step}: let one of the steps that they require come first`
  return findingAbout('cannot-finish', first, message, others)
}

/** The names and types that the policies target, and the end of the task. */
function goalsOf(policies: readonly Examined[]): readonly StepFacts[] {
  const names = new Set<string>()
  const types = new Set<string>(['task.end'])
  for (const { region } of policies)
    for (const facts of [...region.passed, ...region.violated]) {
      const named = textsOf(facts, 'step_name')
      for (const name of named) names.add(name)
      if (named.length === 0) for (const type of textsOf(facts, 'step_type')) types.add(type)
    }
  return [
    ...[...names].map((name) => factsOfPattern({ step_names: [name] })),
    ...[...types].map((type) => factsOfPattern({ step_types: [type] })),
  ].slice(-maxGoals)
}

function textsOf(facts: Together, path: string): string[] {
  return (valuesIn(facts, path) ?? []).filter((value) => typeof value === 'string')
}

const usual = factsOfPattern({ step_types: ['step.resource'] })

/** Samples of one kind of step; more make a path more probable and the search longer. */
const maxSamples = 6

function pathTo(goal: StepFacts, policies: readonly Examined[], ways: Ways): FoundPath | null {
  const kinds = [...(kindsBefore(goal, ways)?.values() ?? [goal])]
  const agent: { [key: string]: unknown } = { risk_classification: 'unclassified' }
  const [goals = [], ...before] = kinds.map((kind) => samplesOf(kind, ways, agent))
  const steps = [...goals, ...before.flat()]
  const tools = [...new Set(steps.map(({ step_name }) => step_name).filter((name) => name !== undefined))]
  const start: Step = { step_type: 'task.start', properties: { declared_tools: tools } }
  const own = { declared_tools: tools, ...agent }
  return shortestPath({
    policies: policies.map(({ input }) => input),
    goals,
    others: [start, ...before.flat()],
    agent: own,
  })
}

/** Steps of the kind that the policies may allow, the usual type and the fewest conditions first; adds what the agent needs. */
function samplesOf(kind: StepFacts, ways: Ways, agent: { [key: string]: unknown }): Step[] {
  const found = new Map<string, Step>()
  const fieldsIn = (facts: Together) => facts.filter((fact) => fact.kind === 'field')
  const rank = (facts: Together) => (kindsOverlap(fieldsIn(facts), usual) ? 0 : 1000) + facts.length
  const lists = ways(kind).toSorted((a, b) => rank(a) - rank(b))
  for (const facts of lists.slice(0, maxSamples * 4)) {
    const built = stepOf(fieldsIn(facts))
    if (built === null || found.size >= maxSamples) continue
    Object.assign(agent, built.agent)
    found.set(JSON.stringify(built.step), built.step)
  }
  return [...found.values()]
}

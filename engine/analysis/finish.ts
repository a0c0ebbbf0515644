// Whether the actions that critical policies target, and the end of a task, can still happen.
import type { JsonMap, Step } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { blockersOf, isForbiddenOutright, kindsBefore, type Ways, waysUnder } from './deadlock.js'
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

/** `explained`: pairs of policies that a finding names as a contradiction. */
export function finishOf(policies: readonly Examined[], explained: (pair: readonly Examined[]) => boolean): Finish {
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
    const outright = isForbiddenOutright(facts, core)
    if (!(outright && (core.length === 1 || explained(core)))) {
      const key = core.map(({ index }) => index).join(' ')
      const finding = findingOn(step, core)
      if (finding !== null && !found.has(key)) found.set(key, finding)
    }
    return { step, path: null, blocked_by: core.map(({ policy }) => policy.name) }
  })
  return { goals, findings: [...found.values()] }
}

function canStop({ policy }: Examined): boolean {
  return policy.severity === 'critical' && policy.mode !== 'observe' && policy.scope === 'step_execution'
}

function findingOn(step: string, core: readonly Examined[]): AnalysisFinding | null {
  const [first, ...others] = core
  if (first === undefined) return null
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

const fieldsIn = (facts: Together) => facts.filter((fact) => fact.kind === 'field')

const usual = factsOfPattern({ step_types: ['step.resource'] })

/** Samples of one kind of step; more make a path more probable and the search longer. */
const maxSamples = 6

function pathTo(goal: StepFacts, policies: readonly Examined[], ways: Ways): FoundPath | null {
  const kinds = [...(kindsBefore(goal, ways)?.values() ?? [goal])]
  const agent: { [key: string]: unknown } = {}
  const samples = kinds.map((kind) => samplesOf(kind, ways, agent))
  const [goals = [], ...before] = samples
  const steps = samples.flat()
  const tools = [...new Set(steps.map(({ step_name }) => step_name).filter((name) => name !== undefined))]
  const others = [startWith(tools), ...before.flat(), messageWith(steps)]
  const own = { ...agent, declared_tools: agent.declared_tools ?? tools }
  return shortestPath({ policies: policies.map(({ input }) => input), goals, others, agent: own })
}

/** Steps of the kind that the policies may allow: of the most usual type, and with the fewest conditions first. */
function samplesOf(kind: StepFacts, ways: Ways, agent: { [key: string]: unknown }): Step[] {
  const rank = (facts: Together) => (kindsOverlap(fieldsIn(facts), usual) ? 0 : 1000) + facts.length
  const lists = [...ways(kind)].sort((a, b) => rank(a) - rank(b))
  const found = new Map<string, Step>()
  for (const facts of lists.slice(0, maxSamples * 4)) {
    const fields = fieldsIn(facts)
    const built = stepOf(fields)
    if (built === null || found.size >= maxSamples) continue
    const { risk_classification, environment, ...others } = built.agent
    Object.assign(agent, others, fields.some(({ path }) => path === 'context.environment') && { environment })
    found.set(JSON.stringify(built.step), built.step)
  }
  return [...found.values()]
}

function startWith(declared_tools: readonly string[]): Step {
  return { step_type: 'task.start', properties: { declared_tools } }
}

/** A message of the user that names every value of the steps, so that rules about the origin of values pass. */
function messageWith(steps: readonly Step[]): Step {
  const content = [...new Set(steps.flatMap(({ input }) => textsIn(input)))].join(' ')
  const properties = { counterpart: { kind: 'user' } }
  return { step_type: 'step.message', verb: 'GET', output: { content: content || 'please begin' }, properties }
}

function textsIn(value: JsonMap | undefined): string[] {
  const found: string[] = []
  const pending: unknown[] = [value]
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    if (typeof item === 'string' || typeof item === 'number') found.push(String(item))
    else if (typeof item === 'object' && item !== null)
      for (const [key, member] of Object.entries(item)) {
        found.push(key)
        if (member !== undefined && member !== null) pending.push(member)
      }
  }
  return found
}

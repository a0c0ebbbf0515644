// An evaluation in which some facts are true, built from samples; the engine has to confirm it.
import { type JsonMap, type Step, verbsOf } from '@svc/schemas'
import { passedGate } from '../rules/track.js'
import { type Fact, type FieldFact, field, type StepFacts } from './literal.js'
import { universeOf } from './universe.js'
import { isOneOf, meets } from './value-test.js'
import { sampleOf } from './values.js'

export interface Scenario {
  /** Null at registration. */
  readonly step: Step | null
  readonly agent: JsonMap
  readonly past: readonly Step[]
  /** Times at which the facts about hours may be true, ms since 1970. */
  readonly times: readonly number[]
}

/** Monday, 2026-01-05, 09:00 UTC. */
const begin = Date.UTC(2026, 0, 5, 9)
const hourMs = 3_600_000
const maxCopies = 30

/** Null where no sample was found. */
export function scenarioOf(facts: readonly Fact[], at_registration: boolean): Scenario | null {
  const built = stepOf(fieldsIn(facts))
  if (built === null || isNamedTask(built.step)) return null
  const past = pastOf(facts)
  if (past === null) return null
  const week = facts.some(({ kind }) => kind === 'hours')
  const { step, agent } = built
  const tools = step.step_name === undefined ? [] : [step.step_name]
  const lists = facts.flatMap((fact) =>
    fact.kind === 'named' && !fact.negated && fact.name.startsWith('listed in ') ? [fact.name.slice(10)] : [],
  )
  for (const path of lists) write(agent, path.split('.'), tools)
  return {
    step: at_registration ? null : step,
    agent,
    past,
    times: Array.from({ length: week ? 168 : 1 }, (_, hour) => begin + hour * hourMs),
  }
}

/** The facts about fields, with a host for the facts about hosts. */
export function fieldsIn(facts: readonly Fact[]): FieldFact[] {
  const allowed = facts.filter((fact) => fact.kind === 'hosts' && !fact.negated)
  return facts.flatMap((fact) => {
    if (fact.kind === 'field') return [fact]
    if (fact.kind !== 'hosts' || (fact.negated && allowed.length > 0)) return []
    const host = fact.negated ? 'other.invalid' : fact.allowed[0]
    return [field(fact.path, { test: isOneOf([host], 'whole'), negated: false })]
  })
}

/** Steps of the life of a task have no name, so that one with a name is a poor witness. */
function isNamedTask({ step_type, step_name }: Step): boolean {
  return step_type.startsWith('task.') && step_name !== undefined
}

/** Steps before this one, gates last. */
function pastOf(facts: readonly Fact[]): readonly Step[] | null {
  const needed = facts.flatMap((fact): StepFacts[] => {
    if (fact.kind === 'last') return fact.negated ? [] : [fact.of]
    return fact.kind === 'count' && fact.min > 0
      ? Array.from({ length: Math.min(fact.min, maxCopies) }, () => fact.of)
      : []
  })
  const rank = (of: StepFacts) =>
    facts.some((fact) => fact.kind === 'last' && fact.of === of) ? 2 : isGate(of) ? 1 : 0
  const steps = needed.sort((a, b) => rank(a) - rank(b)).map((of) => stepOf(of)?.step ?? null)
  return steps.includes(null) ? null : steps.filter((step) => step !== null)
}

function isGate(of: StepFacts): boolean {
  return of.some(({ path, test }) => path === 'step_type' && test.op === 'one_of' && test.values.includes('step.gate'))
}

type Writable = { [key: string]: unknown }

/** A step, and the agent whose fields the facts name; null where no sample was found. */
export function stepOf(facts: readonly FieldFact[]): { readonly step: Step; readonly agent: Writable } | null {
  const head = headOf(facts)
  if (head === null) return null
  const gate = head.step_type === 'step.gate' ? structuredClone(passedGate()) : {}
  const step: Writable = { ...gate, ...head }
  const agent: Writable = { risk_classification: 'unclassified', environment: 'production' }
  const paths = new Set(facts.map(({ path }) => path))
  for (const path of [...paths].sort()) {
    if (path === 'step_type' || path === 'verb') continue
    const own = facts.filter((fact) => fact.path === path)
    const value = sampleOf(own, universeOf(path))
    if (value === undefined) return null
    if (value === null) continue
    const [first = '', ...rest] = path.split('.')
    const [root, segments] = first === 'agent' || first === 'context' ? [agent, rest] : [step, placeOf(first, rest)]
    if (!write(root, segments, value)) return null
  }
  return { step: step as unknown as Step, agent }
}

const knownTypes = Object.keys(verbsOf) as (keyof typeof verbsOf)[]
const usual = ['step.resource', 'step.message', 'step.exec', ...knownTypes]

/** A step type with a verb that it has. */
function headOf(facts: readonly FieldFact[]): { readonly step_type: string; readonly verb?: string } | null {
  const types = facts.filter(({ path }) => path === 'step_type')
  const verbs = facts.filter(({ path }) => path === 'verb')
  const listed = types.flatMap(({ test }) => (test.op === 'one_of' ? test.values : []))
  const fits = (conditions: readonly FieldFact[], value: unknown) => conditions.every((one) => meets(one, value))
  for (const type of [...usual, ...listed, 'step.custom'].filter((one) => fits(types, one))) {
    const known = knownTypes.find((one) => one === type)
    const choices = known === undefined ? ['GET', 'POST', 'PATCH', 'DELETE'] : verbsOf[known]
    // A step that changes something is the more telling one.
    const verb = [...choices.filter((one) => one === 'POST'), ...choices, null].find((one) => fits(verbs, one))
    if (verb !== undefined) return { step_type: String(type), ...(verb !== null && { verb }) }
  }
  return null
}

const members = new Set([
  'input',
  'output',
  'meta',
  'properties',
  'agent_id',
  'task_id',
  'timestamp',
  'step',
  'step_name',
])
const flags = new Set(['is_external_call', 'has_write_permission'])

function placeOf(first: string, rest: readonly string[]): readonly string[] {
  return members.has(first) || flags.has(first) ? [first, ...rest] : ['properties', first, ...rest]
}

/** Writes a value at a path; false where another value is in the way. */
function write(root: Writable, [first = '', ...rest]: readonly string[], value: unknown): boolean {
  if (rest.length === 0) {
    if (isMap(root[first]) && isMap(value)) Object.assign(root[first] as Writable, value)
    else root[first] = value
    return true
  }
  if (first === '__proto__' || first === 'constructor' || first === 'prototype') return false
  if (Object.hasOwn(root, first) && !isMap(root[first])) return false
  const inner = Object.hasOwn(root, first) ? { ...(root[first] as Writable) } : {}
  root[first] = inner
  return write(inner, rest, value)
}

function isMap(value: unknown): value is Writable {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

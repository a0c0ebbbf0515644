// Random pairs of conditions that differ in one place, and random steps on random histories, from the rule cases.
import { type JsonMap, parseTimestamp, type Step } from '@svc/schemas'
import { leafRules } from '../../../engine/rules/registry.js'
import { type RuleCase, ruleCases } from './cases.js'

export interface Condition {
  readonly rule_type: string
  readonly params: JsonMap
}

export interface Pair {
  readonly old: Condition
  readonly next: Condition
  /** The parameter that differs, such as `execution_max_steps max_steps`. */
  readonly place: string
  /** The scope of both. */
  readonly scope: RuleCase['scope']
}

export type Given = Pick<RuleCase, 'agent' | 'context' | 'history' | 'step' | 'now'>

export type Random = () => number

const combinators = ['all_of', 'any_of', 'not']
const cases = ruleCases().filter(({ rule }) => !combinators.includes(rule))
const ruleNames = leafRules.map(({ name }) => name)
const casesOf = new Map(ruleNames.map((name) => [name, cases.filter(({ rule }) => rule === name)]))

/** Random numbers in [0, 1) from a seed. */
export function numbers(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

export function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T
}

/** A condition and the same with one parameter changed, alone or below combinators that are equal otherwise. */
export function randomPair(random: Random): Pair {
  const rule = pick(random, ruleNames)
  const { scope, ...old } = leafOf(random, rule)
  const { params, name } = changedParams(random, rule, old.params)
  const pair = { old, next: { ...old, params }, place: `${rule} ${name}`, scope }
  return random() < 0.6 ? pair : nested(random, pair)
}

function leafOf(random: Random, rule: string): Condition & Pick<Pair, 'scope'> {
  const definition = leafRules.find(({ name }) => name === rule)
  const known = casesOf.get(rule) ?? []
  const scopes: readonly Pair['scope'][] = (definition?.scopes ?? []).filter((scope) => scope !== 'agent_registration')
  const from = random() < 0.15 || known.length === 0 ? null : pick(random, known).case
  const scope = from !== null && scopes.includes(from.scope) ? from.scope : pick(random, scopes)
  let params = { ...(from?.params ?? definition?.example ?? {}) }
  // Other combinations of values than those of one case.
  for (let more = random(); more < 0.4; more = random()) params = changedParams(random, rule, params).params
  return { rule_type: rule, params, scope }
}

const targets: Readonly<Record<string, (random: Random) => unknown>> = {
  target_step_types: (random) => some(random, types),
  target_verb: (random) => pick(random, verbs),
  target_verbs: (random) => some(random, verbs),
  target_step_names: (random) => some(random, stepNames()),
  target_property_filter: randomFilter,
  target_after: randomSelector,
}

const verbs = ['GET', 'POST', 'PATCH', 'DELETE']
const types = ['step.resource', 'step.message', 'step.model', 'step.gate', 'step.exec', 'step.credential', 'step.self']
const allTypes = [...types, 'task.start', 'task.end', 'LLM_CALL']
const stepNames = () => knownNames
const knownNames = [
  ...new Set(cases.flatMap(({ case: { step, history } }) => [step, ...history].map((one) => one?.step_name ?? 'mail'))),
]

/** Conditions on fields that the cases use; those with a dot can be ambiguous. */
const conditions: Readonly<Record<string, readonly unknown[]>> = {
  'target.trust': ['external', 'internal', ['external', 'internal'], null, { present: true }, { not: 'internal' }],
  'target.host': [{ present: true }, null, 'example.com', ['example.com', 'a.example.com'], { matches: 'e' }],
  'data.classification': ['pii', ['pii', 'financial'], { present: true }, { not: ['pii'] }, { not: ['pii', 'x'] }],
  'counterpart.kind': ['user', ['user', 'agent'], null],
  'content.trust': ['public', ['public', 'third_party'], 'own'],
  'usage.total_tokens': [{ min: 1 }, { min: 100 }, { max: 1000 }, { min: 1, max: 500 }, { present: true }],
  'input.amount': [{ min: 1 }, { min: 100 }, { max: 1000 }, { max: 50, not: 7 }],
  step_name: [{ present: true }, null, 'pay', ['pay', 'refund', 'mail'], { not: 'pay' }],
  has_write_permission: [true, false, [true, false]],
  is_external_call: [true, false],
  verb: ['GET', ['GET', 'POST'], null],
}

function randomFilter(random: Random): JsonMap {
  const paths = some(random, Object.keys(conditions)).slice(0, 3)
  return Object.fromEntries(paths.map((path) => [path, pick(random, conditions[path] ?? [])]))
}

function randomSelector(random: Random): JsonMap {
  return {
    ...(random() < 0.6 && { step_types: some(random, types) }),
    ...(random() < 0.4 && { verbs: some(random, verbs) }),
    ...(random() < 0.3 && { step_names: some(random, stepNames()) }),
    ...(random() < 0.5 && { property_filter: randomFilter(random) }),
  }
}

function some<T>(random: Random, values: readonly T[]): T[] {
  const wanted = 1 + Math.floor(random() * Math.min(3, values.length))
  return [...new Set(Array.from({ length: wanted }, () => pick(random, values)))]
}

function changedParams(random: Random, rule: string, params: JsonMap): { params: JsonMap; name: string } {
  const definition = leafRules.find((one) => one.name === rule)
  const own = Object.keys(definition?.params.properties ?? {})
  const takesTarget = definition?.targets !== false && random() < 0.3
  const name = pick(random, takesTarget ? Object.keys(targets) : own)
  if (params[name] !== undefined && random() < 0.2) {
    const { [name]: _, ...others } = params
    return { params: others, name }
  }
  return { params: { ...params, [name]: changed(random, rule, name, params[name]) }, name }
}

/** Another value of a parameter: near the old one, from another case, or of a random form. */
function changed(random: Random, rule: string, name: string, value: unknown): unknown {
  const near = nearValue(random, name, value)
  if (near !== undefined && random() < 0.6) return near
  const known = (casesOf.get(rule) ?? []).map((one) => one.case.params[name]).filter((one) => one !== undefined)
  const made = targets[name]?.(random) ?? madeValue(random, rule, name)
  if (known.length > 0 && (made === undefined || random() < 0.4)) return pick(random, known)
  return made ?? near ?? value
}

function nearValue(random: Random, name: string, value: unknown): unknown {
  if (typeof value === 'number')
    return pick(random, [value + 1, value - 1, value * 2, Math.floor(value / 2), 0, 1, 2, 3, 1000])
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) return nearList(random, name, value)
  if (typeof value === 'object' && value !== null) return nearMap(random, value as JsonMap)
  return undefined
}

function nearList(random: Random, name: string, list: readonly unknown[]): unknown[] {
  const pool = cases.flatMap(({ case: { params } }) => (Array.isArray(params[name]) ? (params[name] as unknown[]) : []))
  if (list.length > 1 && random() < 0.5) return list.filter((_, index) => index !== Math.floor(random() * list.length))
  return [...list, pick(random, pool.length === 0 ? list : pool)]
}

function nearMap(random: Random, map: JsonMap): JsonMap {
  const names = Object.keys(map)
  const name = pick(random, names.length === 0 ? ['property_filter'] : names)
  const { [name]: value, ...others } = map
  if (random() < 0.3) return others
  if (random() < 0.4) {
    const more = randomFilter(random)
    return 'step_types' in map || 'verbs' in map ? { ...map, property_filter: more } : { ...map, ...more }
  }
  const wider = conditions[name] === undefined ? nearValue(random, name, value) : pick(random, conditions[name] ?? [])
  return { ...map, [name]: wider ?? value ?? {} }
}

const sentFields = ['input', 'exec.command', 'input.body', 'input.text', 'input.to', 'input.recipient']

const selects = /^(required_step_type|predecessor_step_type|taint_step_type|step_type|sink|source|from)$/

function madeValue(random: Random, rule: string, name: string): unknown {
  if (/filter$/.test(name)) return randomFilter(random)
  if (/verb$/.test(name)) return pick(random, verbs)
  if (name === 'fields') return some(random, sentFields)
  if (rule.startsWith('node_') || rule.startsWith('execution_'))
    return /sequence|target_node_types/.test(name) ? some(random, allTypes) : typeOrSelector(random, rule, name)
  if (selects.test(name)) return typeOrSelector(random, rule, name)
  if (name === 'forbidden_intervening')
    return some(random, types).map((type) => (random() < 0.3 ? randomSelector(random) : type))
  return name.startsWith('max_age') ? Math.floor(random() * 5) + 1 : undefined
}

function typeOrSelector(random: Random, rule: string, name: string): unknown {
  if (!selects.test(name) && !/type$/.test(name)) return undefined
  if (/^(sink|source|from)$/.test(name)) return randomSelector(random)
  return selects.test(name) && !rule.startsWith('node_') && random() < 0.6
    ? randomSelector(random)
    : pick(random, allTypes)
}

/** The pair below one to three combinators, beside conditions that do not change. */
function nested(random: Random, pair: Pair): Pair {
  let { old, next, place } = pair
  for (let depth = 1 + Math.floor(random() * 3); depth > 0; depth--) {
    const kind = pick(random, combinators)
    place = `${kind} ${place}`
    const wrap =
      kind === 'not'
        ? (condition: Condition) => ({ condition })
        : beside(neighbours(random, pair.scope), Math.floor(random() * 3))
    old = { rule_type: kind, params: wrap(old) }
    next = { rule_type: kind, params: wrap(next) }
    if (kind !== 'not' && random() < 0.3) {
      const [longer, shorter] = [next.params.conditions as Condition[], old]
      next = { rule_type: kind, params: { conditions: [...longer, ...neighbours(random, pair.scope).slice(0, 1)] } }
      place = `${place} and a condition`
      if (random() < 0.5) next = { ...next, params: { conditions: withOnlyNew(shorter, next) } }
      if (random() < 0.5) [old, next] = [next, old]
    }
  }
  return { ...pair, old, next, place }
}

/** The conditions of the old group and the last condition of the new one: a change that adds a condition and nothing else. */
function withOnlyNew(old: Condition, next: Condition): readonly Condition[] {
  return [...(old.params.conditions as Condition[]), ...(next.params.conditions as Condition[]).slice(-1)]
}

function neighbours(random: Random, scope: Pair['scope']): Condition[] {
  const count = Math.floor(random() * 3)
  const usable = leafRules.filter(({ scopes }) => scopes.includes(scope))
  const plain = usable.filter(({ readsHistoryOnly }) => readsHistoryOnly)
  const names = (random() < 0.5 && plain.length > 0 ? plain : usable).map(({ name }) => name)
  return Array.from({ length: count }, () => {
    const { rule_type, params } = leafOf(random, pick(random, names))
    return { rule_type, params }
  })
}

function beside(others: readonly Condition[], at: number) {
  return (condition: Condition) => ({ conditions: [...others.slice(0, at), condition, ...others.slice(at)] })
}

const paths = ['target.host', 'target.trust', 'data.classification', 'exec.command', 'guard.result', 'content.trust']

/** A step of the cases of the rules, on parts of histories; some fields are spelt twice. */
export function randomGiven(random: Random, rules: readonly string[], scope: Pair['scope']): Given {
  const own = cases.filter(({ rule }) => rules.includes(rule))
  const caseOf = () => pick(random, random() < 0.75 && own.length > 0 ? own : cases).case
  const [one, other] = [caseOf(), caseOf()]
  const history = [
    ...one.history,
    ...(random() < 0.5 ? other.history : []),
    ...(random() < 0.2 ? caseOf().history : []),
  ]
  const steps = withTimes(history.map((step) => (random() < 0.04 ? ambiguous(random, step) : step)))
  const chosen = random() < 0.7 ? one.step : (pick(random, [...one.history, other.step]) ?? one.step)
  const step = chosen ?? other.step ?? { step_type: pick(random, types), verb: 'POST' as const }
  const own_step = random() < 0.12 ? ambiguous(random, step) : step
  const last = scope === 'task_execution' ? { ...own_step, step_type: 'task.end' } : own_step
  const now = new Date(
    Math.max(timeOf(one.now), timeOf(steps.at(-1)?.timestamp ?? one.now)) + pick(random, [0, 1000, 60_000]),
  )
  const facts = random() < 0.7 ? one : other
  return { agent: facts.agent, context: facts.context, history: steps, step: last, now: now.toISOString() }
}

/** Times that never decrease. */
function withTimes(steps: readonly Step[]): Step[] {
  let last = 0
  return steps.map((step) => {
    last = Math.max(last + 1, timeOf(step.timestamp ?? ''))
    return { ...step, timestamp: new Date(last).toISOString() }
  })
}

function ambiguous(random: Random, step: Step): Step {
  const path = pick(random, paths)
  const [outer = '', inner = ''] = path.split('.')
  return { ...step, properties: { ...step.properties, [path]: 'one', [outer]: { [inner]: 'other' } } }
}

export function timeOf(timestamp: string): number {
  return parseTimestamp(timestamp) ?? Date.UTC(2026, 0, 5, 9)
}

// Random condition trees over the rule cases, evaluated together in one policy set, against the plain meaning of the
// combinators: every condition is evaluated alone, and one that cannot be evaluated violates the whole policy.
import { compile, materialise, Task } from '@svc/engine'
import { type JsonMap, parseTimestamp, type Step } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { leafRules } from '../../../engine/rules/registry.js'
import { answerOf, policiesFor, type RuleCase, ruleCases } from '../../support/engine/cases.js'
import { runs } from '../../support/random.js'

interface Condition {
  readonly rule_type: string
  readonly params: JsonMap
}

/** The answer of a condition; a code where it cannot be evaluated. */
type Plain = 'pass' | 'not_applicable' | 'violation' | { readonly code: string }

const broken = new Set(['AMBIGUOUS_FIELD', 'NOT_TEXT', 'FLOW_LIMIT', 'RULE_ERROR'])
const cases = ruleCases().filter((entry) => entry.case.scope === 'step_execution' && entry.case.step !== null)
const leaves: readonly Condition[] = cases
  .filter(({ rule }) => !['all_of', 'any_of', 'not'].includes(rule))
  .map((entry) => ({ rule_type: entry.rule, params: entry.case.params }))

const seeds = Number(process.env.SVC_FUZZ_SETS ?? runs(1000))
const leavesPerSeed = 12
const treesPerSeed = 12

describe('policies that are evaluated together', () => {
  it(`have the answers of their conditions alone, in ${seeds} random sets`, () => {
    const found = { pass: 0, violated: 0, broken: 0 }
    for (let seed = 1; seed <= seeds; seed++) {
      const random = numbers(seed)
      const own = Array.from({ length: leavesPerSeed }, () => pick(random, leaves))
      const given = randomContext(random)
      const alone = new Map(own.map((leaf) => [leaf, plainAnswer(leaf, given)]))
      const trees = Array.from({ length: treesPerSeed }, () => randomTree(random, own, 3))
      const results = evaluated([...trees, ...own], given)
      for (const [index, tree] of [...trees, ...own].entries()) {
        const expected = answerOfTree(tree, alone)
        const details = results[index]?.violation_details ?? null
        const where = `seed ${seed}: ${JSON.stringify(tree)}`
        expect(details !== null, where).toBe(expected === 'violation' || typeof expected === 'object')
        if (typeof expected === 'object') expect(details?.code, where).toBe(expected.code)
        found[typeof expected === 'object' ? 'broken' : expected === 'violation' ? 'violated' : 'pass'] += 1
      }
    }
    // Each kind of answer is frequent enough to mean something.
    for (const count of Object.values(found)) expect(count).toBeGreaterThan(seeds / 5)
  })
})

describe('a rule that reads only the history', () => {
  const historyOnly = new Set(leafRules.filter((rule) => rule.readsHistoryOnly).map(({ name }) => name))
  const own = cases.filter((entry) => historyOnly.has(entry.rule) && !('target_property_filter' in entry.case.params))

  it.each(own.map((entry) => ({ ...entry, name: entry.case.name })))('$rule: $name', (entry) => {
    const { step } = entry.case
    const context = { ...entry.case, step: step && withoutFields(step) }
    const [result] = evaluated([{ rule_type: entry.rule, params: entry.case.params }], context)
    expect(result?.violation_details?.code).not.toBe('RULE_ERROR')
    expect(result?.violated).toBe(entry.case.expect === 'violation')
  })
})

/** A step whose fields cannot be read. */
function withoutFields(step: Step): Step {
  const fields = new Set<unknown>(['input', 'output', 'properties', 'meta', 'is_external_call', 'has_write_permission'])
  return new Proxy(step, {
    get: (target, key) => {
      if (fields.has(key)) throw new Error(`\`${String(key)}\` is read`)
      return Reflect.get(target, key)
    },
  })
}

type Given = Pick<RuleCase, 'agent' | 'context' | 'history' | 'step' | 'now'>

type Policies = ReturnType<typeof policiesFor>

function evaluated(conditions: readonly Condition[], { agent, context, history, step, now }: Given) {
  const policies = conditions.map(({ rule_type, params }, index) => {
    const names = { name: `policy ${index}`, scope: 'step_execution' as const, severity: 'high' as const }
    return { ...names, rule_type: rule_type as Policies[number]['rule_type'], params }
  })
  return decisionOn(policies, { agent, context, history, step, now })
}

function decisionOn(policies: Policies, { agent, context, history, step, now }: Given) {
  const assignment = { source: 'file', path: '', sha: '', agent: null, assigned_at: null, assigned_by: null }
  const stored = materialise({ name: 'fuzz', version: '1', policies }, assignment).policies
  const set = compile(stored.map((policy, index) => ({ ...policy, id: index + 1, version: 1 })))
  expect(set.dropped).toEqual([])
  const task = new Task(set)
  for (const one of history) task.add(one, timeOf(one.timestamp))
  const facts = { ...agent, ...context }
  return task.evaluate(step, facts, { occasion: 'step', now: timeOf(now) }).policies
}

function plainAnswer({ rule_type, params }: Condition, given: Given): Plain {
  const results = decisionOn(policiesFor(rule_type, { params, scope: 'step_execution' }), given)
  const code = results[0]?.violation_details?.code
  return code !== undefined && broken.has(code) ? { code } : answerOf(results)
}

function answerOfTree({ rule_type, params }: Condition, alone: ReadonlyMap<Condition, Plain>): Plain {
  if (rule_type === 'not') return negated(answerOfTree(params.condition as Condition, alone))
  if (rule_type !== 'all_of' && rule_type !== 'any_of') {
    const leaf = [...alone].find(([one]) => one.rule_type === rule_type && one.params === params)
    return leaf?.[1] ?? 'not_applicable'
  }
  const answers = (params.conditions as Condition[]).map((condition) => answerOfTree(condition, alone))
  const unreadable = answers.find((answer) => typeof answer === 'object')
  if (unreadable !== undefined) return unreadable
  const [first, second] = rule_type === 'any_of' ? (['pass', 'violation'] as const) : (['violation', 'pass'] as const)
  return answers.includes(first) ? first : answers.includes(second) ? second : 'not_applicable'
}

function negated(answer: Plain): Plain {
  if (answer === 'pass') return 'violation'
  return answer === 'violation' ? 'pass' : answer
}

type Random = () => number

function randomTree(random: Random, own: readonly Condition[], depth: number): Condition {
  const kind = depth === 0 ? 3 : Math.floor(random() * 5)
  if (kind > 2) return pick(random, own)
  const inner = () => randomTree(random, own, depth - 1)
  if (kind === 0) return { rule_type: 'not', params: { condition: inner() } }
  const conditions = Array.from({ length: 1 + Math.floor(random() * 4) }, inner)
  return { rule_type: kind === 1 ? 'all_of' : 'any_of', params: { conditions } }
}

/** The step of a case on the history of another; in one of three a field of the step is spelt twice. */
function randomContext(random: Random): Given {
  const one = pick(random, cases).case
  const { history, agent, context, now } = pick(random, cases).case
  const step = one.step === null || random() > 1 / 3 ? one.step : ambiguous(random, one.step)
  return { agent: { ...agent, ...one.agent }, context: { ...context, ...one.context }, history, step, now }
}

const paths = [
  'target.host',
  'target.trust',
  'data.classification',
  'exec.command',
  'guard.result',
  'usage.total_tokens',
]

function ambiguous(random: Random, step: Step): Step {
  const path = pick(random, paths)
  const [outer = '', inner = ''] = path.split('.')
  return { ...step, properties: { ...step.properties, [path]: 'one', [outer]: { [inner]: 'other' } } }
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T
}

/** Random numbers in [0, 1) from a seed. */
function numbers(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function timeOf(timestamp: string | undefined): number {
  const time = parseTimestamp(timestamp ?? '')
  if (time === null) throw new Error(`\`${timestamp}\` is not a time`)
  return time
}

// Random policies over a few words, so that their parameters often exclude each other. What the analysis claims of them is
// checked against the engine on random histories: a claim with a counterexample is false.
import { type compile, onAgent, parseManifest, Task } from '@svc/engine'
import { type JsonMap, type Step, verbsOf } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leafRules } from '../../../engine/rules/registry.js'
import { analysisOf } from '../../support/engine/analysis.js'
import { runs } from '../../support/random.js'

const manifests = Number(process.env.SVC_FUZZ_MANIFESTS ?? runs(500, 80))
const seed = 20_261 + manifests - 400
const worlds = 120

const types = [
  'step.resource',
  'step.message',
  'step.model',
  'step.exec',
  'step.gate',
  'step.credential',
  'task.end',
  'LLM_CALL',
]
const names = ['pay', 'read', 'send']
const verbs = ['GET', 'POST', 'PATCH', 'DELETE']
const texts = ['a', 'b', 'ab', '1', 'own', 'public', 'internal', 'external', 'External', 'untrusted']
/** Listed values only: another one is ambiguous, so that it counts for some rules and not for others. */
const trusts = ['internal', 'external', ' External.', ['internal']]
const values: readonly unknown[] = [...texts, 1, 5, 10, true, false, null]
const patterns = ['.*', 'a', 'a$', '/a/', 'b|', '[0-9]+$', 'a$b', '^a', 'b^', '[a-b]+', '(own|public)$', '']
const paths = [
  'input.x',
  'input.y',
  'target.trust',
  'content.trust',
  'is_external_call',
  'has_write_permission',
  'step_name',
  'verb',
  'step_type',
  'input',
]
const agentPaths = ['agent.risk_classification', 'context.risk_classification', 'agent.team']
const levels = ['minimal', 'limited', 'high', 'unacceptable', 'unclassified'] as const
const checkTypes = ['human', 'test']

const oneOf = <T>(list: readonly T[]) => fc.constantFrom(...list)
const some = <T>(list: readonly T[], maxLength = 2) => fc.uniqueArray(oneOf(list), { minLength: 1, maxLength })
const optional = (members: Record<string, fc.Arbitrary<unknown>>) => fc.record(members, { requiredKeys: [] })
const number = oneOf([0, 1, 5, 10, 100])

const condition = fc.oneof(
  oneOf(values),
  some(values, 3),
  fc.record({ present: fc.boolean() }),
  optional({ min: number, max: number }).filter((range) => Object.keys(range).length > 0),
  fc.record({ matches: oneOf(patterns) }),
  fc.record({ not: fc.oneof(oneOf(values), some(values)) }),
)
const filterOf = (fields: readonly string[]) => fc.dictionary(oneOf(fields), condition, { maxKeys: 2 })
const selector = optional({
  step_types: some(types),
  verbs: some(verbs),
  step_names: some(names),
  property_filter: filterOf(paths),
})
const kind = fc.oneof(oneOf(types), selector)
const target = optional({
  target_step_types: some(types),
  target_verbs: some(verbs),
  target_step_names: some(names),
  target_property_filter: filterOf([...paths, ...agentPaths]),
  target_after: selector,
})
const field = oneOf([...paths, ...agentPaths])
const hours = fc.record({
  start_hour: oneOf([0, 8, 20]),
  end_hour: oneOf([0, 6, 18, 24]),
  timezone: oneOf(['UTC', 'Asia/Tokyo']),
})
const days = optional({ days: some(['mon', 'tue', 'sat'], 3) })
const domains = ['example.org', 'a.example.org', 'other.test']

/** The parameters of each rule, apart from the target. */
const params: Readonly<Record<string, fc.Arbitrary<object>>> = {
  field_not_empty: fc.record({ field }),
  field_in_list: fc.record({ field, values: fc.array(oneOf(values), { maxLength: 3 }) }),
  field_matches_regex: fc.record({ field, pattern: oneOf(patterns) }),
  field_in_range: fc.record({ field, min: number, max: number }),
  length_at_most: fc.record({ field, max: number }),
  step_directly_preceded_by: fc.record({ required_step_type: kind }),
  step_requires_predecessor: fc.record({ required_step_type: kind }),
  step_preceded_by_without_intervening: fc.record({
    required_step_type: kind,
    forbidden_intervening: fc.array(kind, { minLength: 1, maxLength: 2 }),
  }),
  step_requires_dedicated_predecessor: fc.record({ required_step_type: kind }),
  step_requires_gate: optional({
    gate_check_type: oneOf(checkTypes),
    max_age_steps: oneOf([1, 3]),
    max_age_seconds: oneOf([1, 60]),
  }),
  gate_binds_action: optional({
    gate_check_type: oneOf(checkTypes),
    binds: fc.constant(['step_name']),
    uses: oneOf([1, 2]),
  }),
  sequence_forbidden: fc.record({ forbidden_sequence: fc.array(kind, { minLength: 2, maxLength: 3 }) }),
  step_not_after: fc.record({ predecessor_step_type: kind }),
  history_contains: fc.record({ step_type: kind }),
  current_is: fc.record({ step_type: kind }),
  tainted_path_block: fc.record({ taint_step_type: kind }),
  execution_max_steps: fc.record({ step_type: kind, max_steps: oneOf([0, 1, 2]) }),
  max_consecutive_same_type: fc.record({ step_type: kind, max_consecutive: oneOf([1, 2]) }),
  usage_budget: fc.record({
    step_type: kind,
    property_path: oneOf(['input.x', 'step_name', 'usage.total_tokens']),
    budget: number,
  }),
  step_rate_limit: fc.record({ step_type: kind, max_steps: oneOf([1, 2]), window_seconds: oneOf([1, 60]) }),
  step_forbidden_for_classification: fc.record({
    forbidden_step_type: oneOf(types),
    agent_risk_classifications: some(levels, 4),
  }),
  step_name_in_allowlist: fc.oneof(fc.record({ allowed: fc.array(oneOf(names), { maxLength: 2 }) }), fc.constant({})),
  domain_allowlist: fc.record({ allowed_domains: some(domains), field: oneOf(['input.url', 'target.host']) }),
  pii_in_request: fc.record({
    patterns: some(patterns.filter((one) => one !== '')),
    fields: some(['input.x', 'input']),
  }),
  argument_matches: fc.record({ field, pattern: oneOf(patterns.filter((one) => one !== '')), found: fc.boolean() }),
  path_within_root: fc.record({ field: fc.constant('input.x') }),
  working_hours_only: fc.tuple(hours, days).map(([a, b]) => ({ ...a, ...b })),
  value_flow_forbidden: fc.record({ source: selector, sink: selector }),
  value_from: fc.record({ fields: some(['input.x', 'input.y']), from: selector }),
  node_directly_preceded_by: fc.record({ required_predecessor_type: oneOf(types), target_node_types: some(types) }),
  node_requires_predecessor: fc.record({ required_predecessor_type: oneOf(types), target_node_types: some(types) }),
  node_forbidden_for_agent_classification: fc.record({
    forbidden_node_type: oneOf(types),
    agent_risk_classifications: some(levels),
    node_attribute_filter: filterOf(paths),
  }),
}

const leaf = oneOf(Object.keys(params)).chain((rule_type) => {
  const takesTarget = leafRules.find(({ name }) => name === rule_type)?.targets !== false
  return fc
    .tuple(params[rule_type] ?? fc.constant({}), takesTarget ? target : fc.constant({}))
    .map(([own, targets]) => ({ rule_type, params: { ...own, ...targets } as object }))
})
const tree = fc.oneof(
  { weight: 4, arbitrary: leaf },
  {
    weight: 1,
    arbitrary: fc.record({
      rule_type: oneOf(['all_of', 'any_of']),
      params: fc.record({ conditions: fc.array(leaf, { minLength: 1, maxLength: 3 }) }),
    }),
  },
  { weight: 1, arbitrary: leaf.map((condition) => ({ rule_type: 'not', params: { condition } })) },
)
const level = fc.option(oneOf(['limited', 'high']), { nil: undefined, freq: 4 })
const targets = fc.oneof(
  target,
  fc.constant({}),
  fc.record({ target_step_names: some(names) }),
  fc.record({ target_step_types: some(types) }),
)

interface Node {
  readonly rule_type: string
  readonly params: object
}

/** Policies that often concern the same steps: some share the target, and some the rule. */
const manifest = fc
  .tuple(fc.array(fc.tuple(tree, level, fc.nat(2)), { minLength: 1, maxLength: 3 }), similar(), targets)
  .map(([trees, pair, shared]) => ({
    name: 'Random',
    version: '1.0.0',
    policies: [
      ...trees,
      ...pair.map((node) => [{ ...node, params: { ...node.params, ...shared } }, undefined, 0] as const),
    ].map(([node, risk_classification], index) => ({
      name: `policy ${index}`,
      ...(node as Node),
      scope: 'step_execution',
      severity: 'critical',
      ...(risk_classification && { risk_classification }),
    })),
  }))

/** Two uses of one rule, or of two, without a target. */
function similar(): fc.Arbitrary<readonly Node[]> {
  const own = (rule_type: string) => (params[rule_type] ?? fc.constant({})).map((one) => ({ rule_type, params: one }))
  const rules = Object.keys(params).filter((name) => !name.startsWith('node_'))
  return fc.tuple(oneOf(rules), oneOf(rules), fc.boolean()).chain(([a, b, same]) => fc.tuple(own(a), own(same ? a : b)))
}

const value = fc.oneof(oneOf(values), fc.array(oneOf(values), { maxLength: 3 }), fc.constant({ z: 'a' }))
const someType = oneOf([...Object.keys(verbsOf).filter((type) => type !== 'task.end'), 'LLM_CALL', 'step.custom'])
const step = someType.chain((step_type) => {
  const usual =
    step_type === 'step.custom'
      ? verbs
      : (verbsOf[(step_type === 'LLM_CALL' ? 'step.model' : step_type) as keyof typeof verbsOf] as readonly string[])
  return optional({
    ...(usual.length > 0 && { verb: oneOf(usual) }),
    ...(!step_type.startsWith('task.') && { step_name: oneOf(names) }),
    input: optional({ x: value, y: value, url: oneOf(['https://a.example.org/', 'https://other.test']) }),
    properties: optional({
      target: optional({ trust: oneOf(trusts), host: oneOf(domains) }),
      content: optional({ trust: oneOf(['own', 'public', 'third_party', 'other']) }),
      guard: optional({ check_type: oneOf(checkTypes), result: oneOf(['passed', 'failed']) }),
      usage: optional({ total_tokens: number }),
    }),
    output: optional({ x: oneOf(texts) }),
    is_external_call: fc.boolean(),
    has_write_permission: fc.boolean(),
  }).map((members) => unambiguous({ step_type, ...members } as unknown as Step))
})
/** A field with two values counts for some rules and not for others. */
function unambiguous({ is_external_call, ...step }: Step): Step {
  const { trust = null } = (step.properties?.target ?? {}) as { trust?: unknown }
  return trust === null && is_external_call !== undefined ? { ...step, is_external_call } : step
}

const last = fc.oneof(
  { weight: 9, arbitrary: step },
  { weight: 1, arbitrary: fc.constant<Step>({ step_type: 'task.end' }) },
)
const world = fc.record({
  past: fc.array(step, { maxLength: 6 }),
  step: last,
  agent: fc.record({
    risk_classification: oneOf(levels),
    declared_tools: some(names),
    team: value,
    project_root: fc.constant('/srv'),
  }),
  hour: fc.nat(200),
})

const broken = new Set(['AMBIGUOUS_FIELD', 'NOT_TEXT', 'FLOW_LIMIT', 'RULE_ERROR'])
type World = typeof world extends fc.Arbitrary<infer W> ? W : never

/** The answer of each policy by its name; null where the engine could not read the step. */
function answersIn(
  set: ReturnType<typeof compile>,
  { past, step, agent, hour }: World,
): ReadonlyMap<string, string> | null {
  const task = new Task(set)
  const now = Date.UTC(2026, 0, 5) + hour * 3_600_000
  for (const [index, one] of past.entries()) task.add(one, now - (past.length - index) * 1000)
  const { policies } = task.explain(step, agent as JsonMap, { occasion: 'step', now })
  if (policies.some(({ violation_details }) => violation_details !== null && broken.has(violation_details.code)))
    return null
  return new Map(policies.map((one) => [one.name, one.answer]))
}

type Level = (typeof levels)[number]

/** The policies that apply to an agent of each level. */
function setsOf(manifest: Parameters<typeof onAgent>[0]): Readonly<Record<Level, ReturnType<typeof compile>>> {
  const sets = levels.map((risk_classification) => [
    risk_classification,
    onAgent(manifest, { risk_classification }).set,
  ])
  return Object.fromEntries(sets) as Record<Level, ReturnType<typeof compile>>
}

type Claim = (answer: string | undefined, others: readonly (string | undefined)[]) => boolean
const applies = (answer: string | undefined) => answer === 'passed' || answer === 'violated'

/** Whether the answers contradict what was claimed. */
const refutes: Readonly<Record<string, Claim>> = {
  'never-applicable': applies,
  'never-violated': (answer) => answer === 'violated',
  'always-violated': (answer) => answer === 'passed',
  contradiction: (answer, [other]) => answer === 'passed' && other === 'passed',
  // A policy of another level is not there at all.
  shadowed: (answer, [other]) => answer === 'violated' && other !== undefined && other !== 'violated',
  'duplicate-policy': (answer, [other]) =>
    other !== undefined && answer !== undefined && (answer === 'violated') !== (other === 'violated'),
}

describe('claims about random policies', () => {
  it(`have no counterexample in ${manifests} manifests`, { timeout: 3_600_000 }, () => {
    const all = fc.sample(manifest, { numRuns: manifests, seed })
    const tried = fc.sample(world, { numRuns: worlds, seed })
    const claims = new Map<string, number>()
    let evaluations = 0
    for (const one of all) {
      const read = parseManifest(JSON.stringify(one), 'random.json').value
      if (read === null || read.policies.length === 0) continue
      const { policies, ...others } = read
      const text = JSON.stringify({ ...others, policies })
      // Claims about a condition of a policy are not about the answers of the policy.
      const found = analysisOf(text).findings.filter(
        ({ id, message }) => id in refutes && !message.startsWith('its condition'),
      )
      if (found.length === 0) continue
      for (const { id } of found) claims.set(id, (claims.get(id) ?? 0) + 1)
      const sets = setsOf(read)
      for (const given of tried) {
        const answers = answersIn(sets[given.agent.risk_classification as Level], given)
        if (answers === null) continue
        evaluations += 1
        for (const { id, policy: name, others: named, message } of found) {
          const others = named.map((other) => answers.get(other.policy))
          const refuted = refutes[id]?.(answers.get(name), others)
          if (refuted) expect.fail(`${id} ${name}: ${message}\n${text}\n${JSON.stringify(given)}`)
        }
      }
    }
    console.log(
      `claims: ${JSON.stringify(Object.fromEntries(claims))}, ${evaluations} evaluations without a counterexample`,
    )
    expect(evaluations).toBeGreaterThan(100 * manifests)
    for (const id of Object.keys(refutes).slice(0, 4)) expect(claims.get(id) ?? 0, id).toBeGreaterThan(0)
  })
})

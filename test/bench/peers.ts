// A hundred conditions without history, compared with other engines. The last condition is violated, so that each engine
// evaluates all of them. Each is used in the way its documentation calls fast, and its result is checked first.
import { preparsePolicySet, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs'
import { PolicyEngine } from '@microsoft/agent-governance-sdk'
import { compile, type PolicyInput, Task } from '@svc/engine'
import { Engine } from 'json-rules-engine'
import type { Row } from './main.js'

interface Condition {
  readonly name: string
  readonly field: string
  /** Violated above this number, or by any other text than this. */
  readonly limit: number | string
}

const count = 100
const conditions = Array.from({ length: count }, (_, index): Condition => {
  const name = `p${index}`
  if (index === count - 1) return { name, field: 't9', limit: 'something else' }
  return index % 2 === 0
    ? { name, field: `n${index % 10}`, limit: 1000 + index }
    : { name, field: `t${index % 10}`, limit: `v${index % 10}` }
})
const facts = Object.fromEntries(
  Array.from({ length: 10 }, (_, index) => [
    index % 2 === 0 ? `n${index}` : `t${index}`,
    index % 2 === 0 ? index : `v${index}`,
  ]),
)

/** Evaluates once; resolves with the names of the violated conditions. */
type Contender = () => string[] | Promise<string[]>

/** A p99 is the median of the p99s of these rounds, because the machine may do other work. */
const rounds = 20
const runsPerRound = 300

export async function benchPeers(): Promise<Row[]> {
  const contenders: Readonly<Record<string, Contender>> = {
    svc: svc(),
    '@microsoft/agent-governance-sdk': sdk(),
    '@cedar-policy/cedar-wasm, preparsed': cedar(),
    'json-rules-engine': rulesEngine(),
  }
  const samples = new Map<string, Percentiles[]>()
  for (const [name, contender] of Object.entries(contenders)) {
    const violated = await contender()
    if (violated.join() !== `p${count - 1}`) throw new Error(`${name} reports ${violated.join()}`)
    samples.set(name, [])
    for (let run = 0; run < runsPerRound; run++) await contender()
  }
  for (let round = 0; round < rounds; round++)
    for (const [name, contender] of Object.entries(contenders)) samples.get(name)?.push(await sample(contender))
  const own = medians(samples.get('svc') ?? [])
  return [...samples].slice(1).map(([name, taken]) => {
    const theirs = medians(taken)
    return {
      what: `${count} stateless policies: ${name}`,
      measured: `p50 ${us(own.p50)}, p99 ${us(own.p99)}`,
      reference: `p50 ${us(theirs.p50)}, p99 ${us(theirs.p99)}`,
      ratio: `${(theirs.p50 / own.p50).toFixed(0)} ×, ${(theirs.p99 / own.p99).toFixed(0)} ×`,
      bar: '≥ 20 × both',
    }
  })
}

async function sample(contender: Contender): Promise<Percentiles> {
  const taken: number[] = []
  for (let run = 0; run < runsPerRound; run++) {
    const before = process.hrtime.bigint()
    const violated = contender()
    if (violated instanceof Promise) await violated
    taken.push(Number(process.hrtime.bigint() - before))
  }
  return { p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) }
}

function svc(): Contender {
  const policies = conditions.map(({ name, field, limit }, index) => ({
    id: index + 1,
    name,
    scope: 'step_execution',
    severity: 'critical',
    enabled: true,
    mode: 'enforce',
    ...(typeof limit === 'number'
      ? { rule_type: 'field_in_range', params: { field, max: limit } }
      : { rule_type: 'field_in_list', params: { field, values: [limit] } }),
  }))
  const set = compile(policies as unknown as PolicyInput[])
  const step = { step_type: 'step.resource', properties: facts }
  const task = new Task(set)
  return () =>
    task
      .evaluate(step, {}, { now: 0 })
      .policies.filter(({ violated }) => violated)
      .map(({ name }) => name)
}

function sdk(): Contender {
  const engine = new PolicyEngine()
  const rules = conditions.map(({ name, field, limit }) => ({
    name,
    ruleAction: 'deny' as const,
    priority: 1,
    condition: typeof limit === 'number' ? `${field} > ${limit}` : `${field} != '${limit}'`,
  }))
  engine.loadPolicy({ name: 'bench', agents: ['*'], rules, default_action: 'allow' })
  return () => {
    const { allowed, matchedRule } = engine.evaluatePolicy('did:agent:bench', facts)
    return allowed ? [] : [matchedRule ?? '']
  }
}

function cedar(): Contender {
  const written = conditions.map(({ name, field, limit }) => {
    const condition = typeof limit === 'number' ? `context.${field} > ${limit}` : `context.${field} != "${limit}"`
    return [name, `forbid(principal, action, resource) when { ${condition} };`]
  })
  const staticPolicies = Object.fromEntries([...written, ['allow', 'permit(principal, action, resource);']])
  const parsed = preparsePolicySet('bench', { staticPolicies })
  if (parsed.type !== 'success') throw new Error(JSON.stringify(parsed))
  const call = {
    principal: { type: 'Agent', id: 'a' },
    action: { type: 'Action', id: 'step' },
    resource: { type: 'Tool', id: 't' },
    context: facts,
    preparsedPolicySetId: 'bench',
    entities: [],
  }
  return () => {
    const answer = statefulIsAuthorized(call)
    if (answer.type !== 'success') throw new Error(JSON.stringify(answer))
    const { decision, diagnostics } = answer.response
    return decision === 'deny' ? diagnostics.reason : []
  }
}

function rulesEngine(): Contender {
  const engine = new Engine()
  for (const { name, field, limit } of conditions) {
    const operator = typeof limit === 'number' ? 'greaterThan' : 'notEqual'
    engine.addRule({ conditions: { all: [{ fact: field, operator, value: limit }] }, event: { type: name } })
  }
  return async () => (await engine.run(facts)).events.map(({ type }) => type)
}

/** ns */
interface Percentiles {
  readonly p50: number
  readonly p99: number
}

function medians(of: readonly Percentiles[]): Percentiles {
  const median = (key: keyof Percentiles) =>
    percentile(
      of.map((round) => round[key]),
      0.5,
    )
  return { p50: median('p50'), p99: median('p99') }
}

function percentile(taken: readonly number[], share: number): number {
  return [...taken].sort((a, b) => a - b)[Math.floor(taken.length * share)] ?? 0
}

function us(ns: number): string {
  return `${(ns / 1000).toFixed(1)} µs`
}

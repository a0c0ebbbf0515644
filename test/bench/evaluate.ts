// How long one decision takes: 100 policies of all six categories, 20 of them compound, on 50 and on 10,000 steps.
import { compile, evaluate, newHistory, type PolicyInput, type PolicySet, record, type Step } from '@svc/engine'
import type { Row } from './main.js'

const rules: readonly (readonly [rule_type: string, params: Record<string, unknown>])[] = [
  ['field_not_empty', { field: 'step_name' }],
  ['field_in_list', { field: 'data.classification', values: ['public', 'internal'] }],
  ['field_matches_regex', { field: 'step_name', pattern: '[a-z_]+$' }],
  ['step_requires_gate', { max_age_steps: 30, target_step_types: ['step.resource'] }],
  [
    'tainted_path_block',
    { taint_step_type: 'step.resource', taint_verb: 'GET', taint_property_filter: { 'target.trust': 'external' } },
  ],
  ['step_not_after', { predecessor_step_type: 'task.error' }],
  ['history_contains', { step_type: 'step.model' }],
  ['execution_max_steps', { step_type: 'step.resource', max_steps: 100_000 }],
  ['step_rate_limit', { step_type: 'step.resource', max_steps: 300, window_seconds: 60 }],
  ['step_name_in_allowlist', { agent_field: 'declared_tools' }],
  ['pii_in_request', { patterns: ['[0-9]{3}-[0-9]{2}-[0-9]{4}', 'AKIA[0-9A-Z]{16}'] }],
  ['working_hours_only', { start_hour: 0, end_hour: 24, timezone: 'Europe/Zurich' }],
]

export const step: Step = {
  step_type: 'step.resource',
  verb: 'POST',
  step_name: 'book_reservation',
  input: { user_id: 'mia_li_3668', flight: 'HAT136', passengers: [{ first_name: 'Mia', dob: '1990-04-05' }] },
  properties: { data: { classification: 'internal' }, target: { trust: 'internal', host: 'booking.example' } },
}
export const agent = {
  declared_tools: ['search', 'book_reservation'],
  risk_classification: 'limited',
  environment: 'production',
}
const start = Date.UTC(2026, 0, 5, 9)

export function benchEvaluate(): Row[] {
  const set = compile(hundredPolicies())
  if (set.dropped.length > 0) throw new Error(JSON.stringify(set.dropped))
  const short = measure(set, 50)
  const long = measure(set, 10_000)
  const us = (ns: number) => `${(ns / 1000).toFixed(1)} µs`
  return [
    {
      what: 'evaluate, 100 policies, 50 steps, p50',
      measured: us(short.p50),
      reference: 'seed target 300 µs',
      ratio: (short.p50 / 300_000).toFixed(3),
      bar: '–',
    },
    {
      what: 'evaluate, 100 policies, 50 steps, p99',
      measured: us(short.p99),
      reference: 'seed target 300 µs',
      ratio: (short.p99 / 300_000).toFixed(3),
      bar: 'p99 ≤ 30 µs',
    },
    {
      what: 'evaluate, 10,000 steps, p50',
      measured: us(long.p50),
      reference: `50 steps ${us(short.p50)}`,
      ratio: (long.p50 / short.p50).toFixed(2),
      bar: '≤ 1.2',
    },
  ]
}

export function hundredPolicies(): PolicyInput[] {
  return Array.from({ length: 100 }, (_, index) => {
    const [rule_type, params] = rules[index % rules.length] ?? ['', {}]
    const [other_type, other_params] = rules[(index + 5) % rules.length] ?? ['', {}]
    const both = {
      conditions: [
        { rule_type, params },
        { rule_type: other_type, params: other_params },
      ],
    }
    const compound = index % 5 === 0
    return {
      ...{
        id: index + 1,
        name: `policy ${index + 1}`,
        rule_type: compound ? 'any_of' : rule_type,
        params: compound ? both : params,
      },
      ...{
        scope: 'step_execution' as const,
        severity: 'medium' as const,
        description: null,
        risk_classification: null,
        agent_id: null,
      },
      ...{
        enabled: true,
        mode: 'enforce' as const,
        controls: [],
        version: 1,
        manifest_id: null,
        manifest_name: null,
        manifest_repo: null,
      },
      ...{ manifest_path: null, manifest_sha: null, manifest_assigned_at: null, manifest_assigned_by: null },
    }
  })
}

function measure(set: PolicySet, steps: number): { p50: number; p99: number } {
  const history = newHistory(set)
  for (let index = 0; index < steps; index++) {
    const earlier: Step =
      index % 10 === 0
        ? { step_type: 'step.gate', output: { status: 'approved' } }
        : index % 3 === 0
          ? { step_type: 'step.model', verb: 'POST' }
          : step
    record(set, history, earlier, start + index * 1000)
  }
  const situation = { step, agent, context: agent, history, now: start + steps * 1000 }
  const samples = new Float64Array(200_000)
  let sink = 0
  for (let round = -20_000; round < samples.length; round++) {
    const before = process.hrtime.bigint()
    const decision = evaluate(set, 'step', situation)
    const took = Number(process.hrtime.bigint() - before)
    sink += decision.policies.length
    if (round >= 0) samples[round] = took
  }
  if (sink === 0) throw new Error('nothing was evaluated')
  samples.sort()
  return { p50: samples[samples.length >> 1] ?? 0, p99: samples[Math.floor(samples.length * 0.99)] ?? 0 }
}

// The data of the benchmarks: a hundred different policies of all six categories, 20 of them compound, and a step.

import type { PolicyInput } from '@svc/engine'
import type { Step } from '@svc/schemas'
import { policyDefaults } from '../support/engine/policy.js'

type Rule = readonly [rule_type: string, params: Record<string, unknown>, others?: Partial<PolicyInput>]

const target = { target_step_types: ['step.resource'] }
const desk = { target_step_names: ['book_reservation', 'cancel_reservation'] }

/** Templates of policies, numbered. Two in a hundred are violated by `step`. */
const templates: readonly ((n: number) => Rule)[] = [
  (n) => ['field_not_empty', { field: n % 2 === 0 ? 'step_name' : `input.field_${n}`, ...(n % 2 && elsewhere) }],
  (n) => ['field_in_list', { field: 'data.classification', values: ['public', 'internal', `level ${n}`] }],
  (n) => ['field_matches_regex', { field: 'step_name', pattern: `[a-z_]{3,${20 + n}}$` }],
  (n) => ['field_in_range', { field: 'input.amount', min: 0, max: 500 + n, ...desk }],
  (n) => ['step_requires_gate', { gate_check_type: 'human_approval', max_age_steps: 20 + n, ...desk }],
  (n) => ['tainted_path_block', taint(n)],
  (n) => ['step_not_after', { predecessor_step_type: 'task.error', ...target, target_verb: n % 2 ? 'POST' : 'GET' }],
  (n) => ['step_requires_predecessor', { required_step_type: 'step.model', target_verbs: verbs(n), ...target }],
  (n) => ['sequence_forbidden', { forbidden_sequence: ['step.credential', `step.custom_${n}`, 'step.resource'] }],
  (n) => ['step_requires_dedicated_predecessor', { required_step_type: 'step.resource', ...target, ...named(n) }],
  (n) => ['step_preceded_by_without_intervening', sandwich(n)],
  (n) => ['node_requires_predecessor', { required_predecessor_type: 'step.model', target_node_types: [`step.n${n}`] }],
  (n) => ['execution_max_steps', { step_type: 'step.resource', max_steps: 100_000 + n }],
  (n) => ['step_rate_limit', { step_type: 'step.resource', max_steps: 300 + n, window_seconds: 60 }],
  (n) => ['max_consecutive_same_type', { step_type: 'step.resource', max_consecutive: 40 + n }],
  (n) => ['usage_budget', { step_type: 'step.resource', property_path: 'usage.total_tokens', budget: 1e9 + n }],
  (n) => [
    'step_name_in_allowlist',
    n > 16 ? { allowed: ['search', `tool ${n}`] } : { agent_field: 'declared_tools', ...named(n) },
  ],
  (n) => [
    'step_forbidden_for_classification',
    { forbidden_step_type: 'step.resource', agent_risk_classifications: ['high'], ...named(n) },
  ],
  (n) => ['domain_allowlist', { allowed_domains: ['booking.example', `d${n}.example`] }],
  (n) => ['pii_in_request', { patterns: ['[0-9]{3}-[0-9]{2}-[0-9]{4}', `AKIA[0-9A-Z]{${16 + n}}`] }],
  (n) => ['argument_matches', { field: 'input', pattern: `(?i)drop table t${n}`, found: false }],
  (n) => ['path_within_root', { field: 'input.path', ...named(n) }],
  (n) => [
    'working_hours_only',
    { start_hour: 0, end_hour: 24, timezone: n % 2 ? 'Europe/Zurich' : 'UTC', ...named(n) },
  ],
  (n) => [
    'value_flow_forbidden',
    { source: { step_types: ['step.credential'] }, sink: { step_types: [`step.m${n}`] } },
  ],
  (n) => ['value_from', { fields: ['input.recipient'], from: contacts, ...named(n) }],
  (n) => ['value_from', { fields: ['input.note'], pattern: `[a-z.]{3,${20 + n}}@[a-z]`, ...desk }],
  (n) => [
    'value_flow_forbidden',
    { source: mailOfOthers, sink: namedSelector(n), fields: ['input.recipient', 'input.note'] },
  ],
  (n) => ['step_requires_predecessor', { required_step_type: contacts, target_step_names: ['search', `tool_${n}`] }],
  (n) => ['field_in_range', { field: 'input.amount', min: 0, max: 580 + n, target_after: mailOfOthers }],
  (n) => ['field_in_range', { field: 'input.amount', min: 0, max: 400 + n, ...named(n) }, asking],
  (n) => ['length_at_most', { field: 'input.passengers', max: 3 + (n % 2), ...desk }],
  (n) => ['gate_binds_action', { ...approval, target_step_names: ['send_certificate', `tool_${n}`] }],
]

const elsewhere = { target_step_types: ['step.message'] }
const verbs = (n: number) => (n % 2 ? ['POST', 'PATCH'] : ['POST', 'DELETE'])
/** Who wrote the parts of an address book and of a message is in the labels of the steps that read them. */
const contacts = { step_names: ['search_contacts', 'read_mail'], property_filter: { 'content.trust': 'own' } }
const mailOfOthers = { step_names: ['read_mail'], property_filter: { 'content.trust': ['public', 'third_party'] } }
const namedSelector = (n: number) => ({ step_names: ['book_reservation', `tool_${n}`], verbs: ['POST', 'PATCH'] })
const check_type = 'human_approval'
const binds = ['step_name', 'input.recipient']
const approval = { gate_check_type: check_type, binds, uses: 1_000_000 }
const asking = { severity: 'critical', approval: { check_type, binds, uses: 1_000_000 } } as const
const named = (n: number) => ({ target_step_names: ['book_reservation', `tool_${n}`] })
const taint = (n: number) => ({
  taint_step_type: 'step.resource',
  taint_verb: 'GET',
  taint_property_filter: { 'target.trust': 'external', 'target.host': `h${n}.example` },
  ...target,
})
const sandwich = (n: number) => ({
  required_step_type: 'step.model',
  forbidden_intervening: [`step.custom_${n}`],
  ...target,
})

/** The third kind of compound policy has other conditions than the first: no two conditions are equal. */
function compound(n: number): Rule {
  const conditions = [5, 11, 17].map((offset) => {
    const [rule_type, params] = (templates[(n + offset) % templates.length] ?? firstTemplate)(200 + n)
    return { rule_type, params }
  })
  const [condition] = conditions
  const inner = { rule_type: 'any_of', params: { conditions } }
  return n % 2 ? ['any_of', { conditions }] : ['all_of', { conditions: [inner, condition] }]
}

const firstTemplate = (n: number): Rule => ['field_not_empty', { field: `input.field_${n}` }]

export function hundredPolicies(): PolicyInput[] {
  return Array.from({ length: 100 }, (_, index) => {
    const template = templates[index % templates.length] ?? firstTemplate
    const [rule_type, params, others] = index % 5 === 4 ? compound(index) : template(index)
    return {
      ...policyDefaults,
      id: index + 1,
      name: `policy ${index + 1}`,
      rule_type,
      params,
      severity: 'medium' as const,
      ...others,
    }
  })
}

export const step: Step = {
  step_type: 'step.resource',
  verb: 'POST',
  step_name: 'book_reservation',
  input: {
    user_id: 'mia_li_3668',
    amount: 240,
    path: '/srv/desk/mia.json',
    flight: 'HAT136',
    recipient: 'mia.li@example.org',
    passengers: [{ first_name: 'Mia', dob: '1990-04-05' }],
  },
  properties: {
    data: { classification: 'internal' },
    target: { trust: 'internal', host: 'booking.example' },
    usage: { total_tokens: 812 },
  },
}

export const agent = {
  declared_tools: ['search', 'book_reservation'],
  risk_classification: 'limited' as const,
  environment: 'production' as const,
  project_root: '/srv/desk',
}

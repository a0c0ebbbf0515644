// Findings about policies that are valid, and probably do not do what their author wants; and about recorded tasks.
import { defineKinds } from './kind.js'

export const analysisKinds = defineKinds([
  {
    id: 'never-applied',
    severity: 'info',
    title: 'A policy applied to no step of the replayed tasks',
    why: 'Its target may name a tool, a type or a verb that the agent does not use, and then it protects nothing.',
    remedy: 'Compare its target with the steps of the trace: `svc explain` lists policies that are not applicable.',
  },
  {
    id: 'never-applicable',
    severity: 'warning',
    title: 'A policy can apply to no step',
    why: 'Its target contradicts itself or its rule, so it protects nothing, and reports show it as passed.',
    remedy: 'Correct the target so that it selects the steps you mean; `svc steps` lists step types with their verbs.',
    wrong:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Model calls name their purpose\n    rule_type: field_not_empty\n    params: { field: meta.purpose, target_step_types: [step.model], target_verb: GET }\n    scope: step_execution\n    severity: critical\n',
    right:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Model calls name their purpose\n    rule_type: field_not_empty\n    params: { field: meta.purpose, target_step_types: [step.model], target_verb: POST }\n    scope: step_execution\n    severity: critical\n',
  },
  {
    id: 'never-violated',
    severity: 'warning',
    title: 'A policy can be violated by no step',
    why: 'Every step that it applies to passes, so it looks like a control but protects nothing.',
    remedy: 'Tighten the parameters, or delete the policy.',
    wrong:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Payments in office hours\n    rule_type: working_hours_only\n    params: { start_hour: 0, end_hour: 24, timezone: Europe/Berlin, target_step_names: [pay] }\n    scope: step_execution\n    severity: critical\n',
    right:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Payments in office hours\n    rule_type: working_hours_only\n    params: { start_hour: 8, end_hour: 18, timezone: Europe/Berlin, target_step_names: [pay] }\n    scope: step_execution\n    severity: critical\n',
  },
  {
    id: 'always-violated',
    severity: 'warning',
    title: 'A policy is violated by every step that it applies to',
    why: 'A critical policy then blocks everything that it targets, although its rule is not a prohibition.',
    remedy: 'Correct the parameters. To forbid the steps, use `execution_max_steps` with `max_steps: 0`.',
    wrong:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Digests are pinned\n    rule_type: field_matches_regex\n    params: { field: tool.digest, pattern: \'/^sha256:[0-9a-f]{64}$/\', target_step_types: [step.exec] }\n    scope: step_execution\n    severity: critical\n',
    right:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Digests are pinned\n    rule_type: field_matches_regex\n    params: { field: tool.digest, pattern: \'sha256:[0-9a-f]{64}$\', target_step_types: [step.exec] }\n    scope: step_execution\n    severity: critical\n',
  },
  {
    id: 'contradiction',
    severity: 'warning',
    title: 'Two policies can never both pass',
    why: 'Each can pass alone, but a step that both apply to always violates one of them.',
    remedy: 'Change one of the two, or give them targets without a common step.',
    wrong:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Transfers are small\n    rule_type: field_in_range\n    params: { field: input.amount, max: 100, target_step_names: [transfer] }\n    scope: step_execution\n    severity: critical\n  - name: Transfers are worth the fee\n    rule_type: field_in_range\n    params: { field: input.amount, min: 500, target_step_names: [transfer] }\n    scope: step_execution\n    severity: critical\n',
    right:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Transfers are small\n    rule_type: field_in_range\n    params: { field: input.amount, max: 100, target_step_names: [transfer] }\n    scope: step_execution\n    severity: critical\n  - name: Wires are worth the fee\n    rule_type: field_in_range\n    params: { field: input.amount, min: 500, target_step_names: [wire] }\n    scope: step_execution\n    severity: critical\n',
  },
  {
    id: 'shadowed',
    severity: 'info',
    title: 'A policy never changes an outcome, because another one is stricter',
    why: 'Each step that violates it also violates the other policy, which has at least its severity.',
    remedy: 'Delete it, or keep it as a note; if it should be the stricter one, correct its parameters.',
    wrong:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Refunds are at most 100\n    rule_type: field_in_range\n    params: { field: input.amount, max: 100, target_step_names: [refund] }\n    scope: step_execution\n    severity: critical\n  - name: Refunds are at most 500\n    rule_type: field_in_range\n    params: { field: input.amount, max: 500, target_step_names: [refund] }\n    scope: step_execution\n    severity: critical\n',
    right:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Refunds are at most 100\n    rule_type: field_in_range\n    params: { field: input.amount, max: 100, target_step_names: [refund] }\n    scope: step_execution\n    severity: critical\n',
  },
  {
    id: 'duplicate-policy',
    severity: 'warning',
    title: 'Two policies do the same',
    why: 'Each violation is reported twice, and a later change of one of them has no effect.',
    remedy: 'Delete one of the two.',
    wrong:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Model calls are limited\n    rule_type: execution_max_steps\n    params: { step_type: step.model, max_steps: 50 }\n    scope: step_execution\n    severity: critical\n  - name: At most 50 model calls\n    rule_type: execution_max_steps\n    params: { step_type: LLM_CALL, max_steps: 50 }\n    scope: step_execution\n    severity: critical\n',
    right:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Model calls are limited\n    rule_type: execution_max_steps\n    params: { step_type: step.model, max_steps: 50 }\n    scope: step_execution\n    severity: critical\n',
  },
  {
    id: 'unbound-fields',
    severity: 'warning',
    title: 'An approval leaves fields of the input unbound',
    why: 'A person approves the bound values, and every other field of the step can change afterwards.',
    remedy:
      'Leave `binds` out, or bind `input`. The answer of an evaluation lists the others in `unbound`: show them to the person.',
    wrong:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Payments go to known payees\n    rule_type: field_in_list\n    params: { field: input.to, values: [landlord], target_step_names: [pay] }\n    scope: step_execution\n    severity: critical\n    approval: { binds: [step_name, input.to] }\n',
    right:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Payments go to known payees\n    rule_type: field_in_list\n    params: { field: input.to, values: [landlord], target_step_names: [pay] }\n    scope: step_execution\n    severity: critical\n    approval: { binds: [step_name, input] }\n',
  },
  {
    id: 'cannot-finish',
    severity: 'warning',
    title: 'No order of steps leads to a step that the policies allow',
    why: 'The critical policies together block every way to an action that they target, or to the end of the task.',
    remedy:
      'Change one of the policies that the message names, so that one of the steps can come first; `svc check --paths` prints the paths to the others.',
    wrong:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Orders follow a quote\n    rule_type: step_requires_predecessor\n    params: { required_step_type: { step_names: [quote] }, target_step_names: [order] }\n    scope: step_execution\n    severity: critical\n  - name: Quotes follow an order\n    rule_type: step_requires_predecessor\n    params: { required_step_type: { step_names: [order] }, target_step_names: [quote] }\n    scope: step_execution\n    severity: critical\n',
    right:
      'name: Example\nversion: "1.0.0"\npolicies:\n  - name: Orders follow a quote\n    rule_type: step_requires_predecessor\n    params: { required_step_type: { step_names: [quote] }, target_step_names: [order] }\n    scope: step_execution\n    severity: critical\n',
  },
])

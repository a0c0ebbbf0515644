// Findings about the members of a manifest.
import { defineKinds } from './kind.js'

const head = 'name: Refund desk\nversion: "1.0.0"\n'
const policy = (rule: string, rest = '') =>
  `policies:\n  - name: Refunds need an approval\n    ${rule}\n    scope: step_execution\n    severity: critical\n${rest}`
const valid =
  head + policy('rule_type: step_requires_gate\n    params: { target_step_names: [refund], max_age_steps: 3 }')
const field = (params: string) => head + policy(`rule_type: field_matches_regex\n    params: ${params}`)
const waiver = (policy_name: string) =>
  `waivers:\n  - policy: ${policy_name}\n    agent_key: night-batch\n    reason: a person approves the batch\n    approved_by: mia@example.org\n    expires: 2027-01-31\n`

export const manifestKinds = defineKinds([
  {
    id: 'missing-key',
    severity: 'error',
    title: 'A required key is missing',
    why: 'Without it the engine does not know what to check, or when.',
    remedy: 'Add the key that the message names.',
    wrong: head + policy('rule_type: field_not_empty\n    params: {}'),
    right: head + policy('rule_type: field_not_empty\n    params: { field: input.amount }'),
  },
  {
    id: 'unknown-key',
    severity: 'error',
    title: 'A key is not known',
    why: 'A misspelt key would be ignored, and with it what its author wanted, such as the limit of a policy.',
    remedy: 'Use the key that the message suggests. Keys for your own use begin with `x-`, or go into `metadata`.',
    wrong: head + policy('rule_type: step_requires_gate\n    params: { target_step_name: [refund] }'),
    right: head + policy('rule_type: step_requires_gate\n    params: { target_step_names: [refund] }'),
  },
  {
    id: 'wrong-type',
    severity: 'error',
    title: 'A value has the wrong type',
    why: 'A text where a list is needed, or a quoted number, cannot be compared as intended.',
    remedy: 'Write the value as the message shows.',
    wrong:
      head + policy('rule_type: step_requires_gate\n    params: { target_step_names: refund, max_age_steps: "3" }'),
    right: valid,
  },
  {
    id: 'wrong-value',
    severity: 'error',
    title: 'A value is not accepted',
    why: 'The key is right, but its value is outside of what it can be.',
    remedy: 'Choose one of the values that the message names.',
    wrong: valid.replace('severity: critical', 'severity: urgent'),
    right: valid,
  },
  {
    id: 'unknown-rule',
    severity: 'error',
    title: 'A rule does not exist',
    why: 'A policy is a rule with parameters; without its rule it cannot be evaluated.',
    remedy: 'Use the rule that the message suggests; `svc rules` lists all of them with examples.',
    wrong: valid.replace('step_requires_gate', 'step_require_gate'),
    right: valid,
  },
  {
    id: 'wrong-scope',
    severity: 'error',
    title: 'A rule cannot be used at this scope',
    why: 'A rule about steps cannot be evaluated at the registration of an agent, which has no step, and so on.',
    remedy: 'Write one of the scopes that the message names.',
    wrong: valid.replace('step_execution', 'agent_registration'),
    right: valid,
  },
  {
    id: 'bad-pattern',
    severity: 'error',
    title: 'A regular expression cannot be used',
    why: 'It is not valid, or cannot be run in linear time: look-around and back-references are not accepted, because they can stop an engine.',
    remedy: 'Correct the pattern at the character that the message names, or write it without that construct.',
    wrong: field("{ field: input.order, pattern: '(' }"),
    right: field("{ field: input.order, pattern: '[0-9]{6}$' }"),
  },
  {
    id: 'duplicate-name',
    severity: 'error',
    title: 'Two policies have one name',
    why: 'Reports, tests and waivers name a policy; with two of one name they could mean either.',
    remedy: 'Give each policy its own name.',
    wrong: `${valid}  - name: Refunds need an approval\n    rule_type: field_not_empty\n    params: { field: input.amount }\n    scope: step_execution\n    severity: low\n`,
    right: valid,
  },
  {
    id: 'unknown-policy',
    severity: 'error',
    title: 'A waiver or a test names a policy that does not exist',
    why: 'The waiver would waive nothing, and the test could pass by accident.',
    remedy: 'Copy the name of the policy exactly.',
    wrong: valid + waiver('Refunds need approval'),
    right: valid + waiver('Refunds need an approval'),
  },
  {
    id: 'unquoted-version',
    severity: 'warning',
    title: 'The version is written without quotes',
    why: 'YAML reads `1.10` as the number 1.1. The text is used as it is written, but other programs may read another version.',
    remedy: 'Put the version in quotes.',
    wrong: valid.replace('"1.0.0"', '1.10'),
    right: valid,
  },
  {
    id: 'unknown-step-type',
    severity: 'warning',
    title: 'A step type is not in the vocabulary',
    why: 'A policy that is limited to a misspelt type never applies.',
    remedy: 'Use the type that the message suggests; `svc steps` lists all. Types of your own may stay.',
    wrong: valid.replace('target_step_names: [refund]', 'target_step_types: [step.resources]'),
    right: valid.replace('target_step_names: [refund]', 'target_step_types: [step.resource]'),
  },
  {
    id: 'unknown-verb',
    severity: 'warning',
    title: 'A verb is not one of the four',
    why: 'Steps have the verbs GET, POST, PATCH and DELETE; a policy for another one never applies.',
    remedy: 'Write GET to read, POST to create, PATCH to change, DELETE to delete.',
    wrong: valid.replace('target_step_names: [refund]', 'target_verbs: [WRITE]'),
    right: valid.replace('target_step_names: [refund]', 'target_verbs: [POST]'),
  },
  {
    id: 'unknown-property',
    severity: 'warning',
    title: 'A property is not in the vocabulary',
    why: 'A policy that reads a misspelt property finds nothing there.',
    remedy: 'Use the property that the message suggests; `svc steps` lists all.',
    wrong: field("{ field: target.hots, pattern: 'api' }"),
    right: field("{ field: target.host, pattern: 'api' }"),
  },
  {
    id: 'unknown-field',
    severity: 'warning',
    title: 'A field is not a part of a step',
    why: 'A field begins with a part of the step, such as `input`. Any other name is looked up in `properties`, where most steps have nothing: the policy then finds no value.',
    remedy:
      'Write `input.amount` for what the step sends, `output.…` for what it returned, and `properties.…` for a property of your own.',
    wrong: field("{ field: order, pattern: '[0-9]+$' }"),
    right: field("{ field: input.order, pattern: '[0-9]+$' }"),
  },
  {
    id: 'wildcard-name',
    severity: 'warning',
    title: 'A name has a wildcard',
    why: 'Names of steps and agents are compared exactly, so that `pay_*` is the name of no step.',
    remedy: 'List the names. For all steps, leave the parameter out.',
    wrong: valid.replace('[refund]', "['refund_*']"),
    right: valid,
  },
  {
    id: 'expired-waiver',
    severity: 'warning',
    title: 'A waiver has ended',
    why: 'The policy is enforced for the agent again, although the file suggests that it is not.',
    remedy: 'Remove the waiver, or have it approved again with a later day.',
    wrong: valid + waiver('Refunds need an approval').replace('2027', '2020'),
    right: valid,
  },
  {
    id: 'unreadable-file',
    severity: 'error',
    title: 'A file cannot be read',
    why: 'It does not exist, is not text in UTF-8, or its permissions do not allow it.',
    remedy: 'Correct the path or the permissions.',
  },
  {
    id: 'no-manifest',
    severity: 'error',
    title: 'The given paths hold no manifest',
    why: 'A check of nothing passes by accident. A manifest is a YAML file with `policies` at the top level.',
    remedy: 'Correct the path; `svc init` writes a manifest to begin with.',
  },
])

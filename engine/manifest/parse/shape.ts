// The shape of a manifest, without the parameters of rules (docs/design/engine.md §4).
import type { JsonMap } from '@svc/schemas'

/** Members for the author; nothing reads them. */
const own = { metadata: { type: 'object', description: 'for the author; has no effect' } }
const ownKeys: JsonMap = { '^x-': { description: 'for the author; has no effect' } }

/** Policies, waivers or tests in one file (docs/design/engine.md §4). */
export const maxItems = 1000

const text = (description: string): JsonMap => ({ type: 'string', minLength: 1, format: 'lines', description })
const map: JsonMap = { type: 'object' }
const severity = {
  type: 'string',
  enum: ['low', 'medium', 'high', 'critical'],
  enumDescriptions: ['reported', 'reported', 'reported', 'blocked, or asked about with an `approval`'],
  description: 'critical blocks',
}

const scopeMeanings: Readonly<Record<string, string>> = {
  agent_registration: 'evaluates an agent',
  step_execution: 'evaluates each step',
  task_execution: 'evaluates a finished task',
}

/** A scope out of a list, each with its meaning for editors. */
export function scopeSchema(scopes: readonly string[]): JsonMap {
  const enumDescriptions = scopes.map((scope) => scopeMeanings[scope] ?? '')
  return { type: 'string', enum: scopes, enumDescriptions, description: 'what the policy evaluates' }
}

const level = { type: ['string', 'null'], enum: ['minimal', 'limited', 'high', 'unacceptable', 'unclassified', null] }

/** An approval of a policy: a passed gate that is bound to the step. */
const approval: JsonMap = {
  type: ['object', 'null'],
  additionalProperties: false,
  description: 'on a critical policy: a step that violates it is asked about, and a bound gate allows it',
  'x-write': '{ check_type: human_approval }',
  properties: {
    check_type: { ...text('only gates with this `guard.check_type`; default every gate'), 'x-editor': 'check_type' },
    binds: {
      type: 'array',
      items: { ...text('field of the step'), 'x-editor': 'field' },
      minItems: 1,
      maxItems: 20,
      description: 'the fields that are approved, such as [step_name, input.recipient]; default the whole action',
    },
    max_age_seconds: {
      type: 'number',
      minimum: 0,
      description: 'age of the gate in seconds, inclusive; default no limit',
    },
    uses: {
      type: 'integer',
      minimum: 1,
      description: 'steps that one gate allows; default one, and any number with `binds`',
    },
  },
}

const policy: JsonMap = {
  type: 'object',
  required: ['name', 'rule_type', 'scope', 'severity'],
  additionalProperties: false,
  patternProperties: ownKeys,
  properties: {
    name: { ...text('name of the policy; unique in the manifest'), maxLength: 200 },
    rule_type: text('name of the rule; see `svc rules`'),
    params: { ...map, description: 'parameters of the rule' },
    scope: scopeSchema(Object.keys(scopeMeanings)),
    severity,
    description: { type: 'string', format: 'lines', description: 'what the policy checks, and its limits' },
    risk_classification: { ...level, description: 'not applied to agents of a lower level' },
    enabled: { type: 'boolean', description: 'default true' },
    mode: {
      type: 'string',
      enum: ['enforce', 'observe'],
      enumDescriptions: ['blocks where the severity says so', 'reports, and never blocks'],
      description: 'default enforce; observe never blocks',
    },
    approval,
    controls: {
      type: 'array',
      items: text('such as ASI01 or EU-AI-Act:50(1)'),
      description: 'the controls that the policy implements',
    },
    ...own,
  },
}

const waiver: JsonMap = {
  type: 'object',
  required: ['policy', 'agent_key', 'reason', 'approved_by', 'expires'],
  additionalProperties: false,
  properties: {
    policy: text('name of the policy that is waived'),
    agent_key: text('the agent that the waiver is for'),
    reason: text('why'),
    approved_by: text('the approver'),
    expires: {
      type: 'string',
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      'x-must': 'be a day such as 2027-01-31',
      description: 'last day, until 24:00 UTC',
    },
  },
}

const verb = {
  type: 'string',
  enum: ['GET', 'POST', 'PATCH', 'DELETE'],
  enumDescriptions: ['reads, or receives', 'creates, or sends', 'changes', 'deletes'],
  description: 'what the step does',
}

export const recordedStepType: JsonMap = {
  type: 'string',
  pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,63}$',
  description: 'such as step.resource',
}

/** A step: a Behavior or a log entry. */
const step: JsonMap = {
  type: 'object',
  required: ['step_type'],
  additionalProperties: false,
  properties: {
    agent_id: text('identifier of the agent'),
    task_id: text('shared by all steps of one run'),
    timestamp: { type: 'string', format: 'iso-8601', description: 'default one second after the previous step' },
    step: { type: 'integer', minimum: 1, description: 'number in the task' },
    step_type: { ...recordedStepType, 'x-editor': 'recorded_step_type' },
    verb,
    step_name: { type: 'string', description: 'name of the tool, model or operation' },
    input: { ...map, description: 'what the tool, model or operation is given' },
    output: { ...map, description: 'what it returned' },
    properties: { ...map, 'x-editor': 'filter', description: 'facts for policies, such as target.host' },
    meta: { ...map, description: 'facts that policies rarely read' },
    is_external_call: { type: 'boolean', description: 'older form of `target.trust: external`' },
    has_write_permission: {
      type: 'boolean',
      description: 'true for a step that changes something; default by its verb',
    },
  },
}

const test: JsonMap = {
  type: 'object',
  required: ['name', 'expect'],
  additionalProperties: false,
  properties: {
    name: text('name of the test'),
    agent: { ...map, description: 'fields of the agent' },
    context: { ...map, description: 'fields of the context' },
    now: { type: 'string', format: 'date-time', description: 'time of the evaluation' },
    history: { type: 'array', items: step, maxItems: 10_000, description: 'the steps before it, in order' },
    step: { ...step, description: 'the step to evaluate; without one the registration of `agent` is evaluated' },
    expect: {
      type: 'object',
      description: 'the answer that is expected',
      additionalProperties: false,
      minProperties: 1,
      properties: {
        action: { type: 'string', enum: ['allow', 'block'], description: 'whether the step may happen' },
        outcome: {
          type: 'string',
          enum: ['allow', 'warn', 'ask', 'block'],
          description: 'the same in more detail: warn allows, ask blocks until an approval',
        },
        violated: { type: 'array', items: text('name of a policy'), description: 'exactly these, in any order' },
      },
    },
  },
}

const tests: JsonMap = {
  type: 'array',
  items: test,
  maxItems: maxItems,
  description: 'steps, each with the answer that is expected',
}

export const manifestShape: JsonMap = {
  type: 'object',
  required: ['name', 'version', 'policies'],
  additionalProperties: false,
  patternProperties: ownKeys,
  properties: {
    name: { ...text('name of the manifest'), maxLength: 200 },
    version: text('such as "1.2.0"; in quotes, so that it stays text'),
    description: { type: 'string', format: 'lines', description: 'what the manifest is for' },
    policies: { type: 'array', items: policy, minItems: 1, maxItems: maxItems, description: 'the policies' },
    waivers: { type: 'array', items: waiver, maxItems: maxItems, description: 'agents that a policy does not block' },
    tests,
    ...own,
  },
}

/** The shape of a sibling `<manifest>.test.yaml`. */
export const testFileShape: JsonMap = {
  type: 'object',
  required: ['tests'],
  additionalProperties: false,
  properties: { tests },
}

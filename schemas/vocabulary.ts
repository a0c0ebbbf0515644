// The vocabulary of steps and policies: step types, and the properties that rules and reports use. `svc steps` and
// docs/steps.md print these tables; manifests are checked against them.

import { aliases, type JsonMap, type StepType, verbsOf } from './steps.js'

export interface StepWord {
  readonly step_type: StepType
  readonly verbs: readonly string[]
  readonly meaning: string
  readonly example: JsonMap
}

export interface PropertyWord {
  readonly name: string
  /** Type of its values, or the values. */
  readonly values: string
  /** Whether no other value has a meaning: one that is not listed counts as the strictest reading. */
  readonly closed: boolean
  /** Whether it stays where payloads are left out (SVC_LOG_PAYLOADS=metadata_only): it says how the step acts, not on what. */
  readonly holds: 'metadata' | 'content'
  /** How rules compare its values: words without regard to case, white space and a full stop at the end; others exactly. */
  readonly compared: 'word' | 'exactly'
  readonly meaning: string
  /** `properties` of a step that has it. */
  readonly example: JsonMap
}

export const verbs = ['GET', 'POST', 'PATCH', 'DELETE'] as const

const meanings: Readonly<Record<StepType, readonly [meaning: string, example: JsonMap]>> = {
  'task.start': ['a task begins', { properties: { declared_tools: ['search', 'refund'] } }],
  'task.end': ['a task ends', { output: { status: 'done' } }],
  'task.error': ['a task fails', { output: { error: 'the order does not exist' } }],
  'task.idle': ['a task waits', {}],
  'step.resource': [
    'read or change something outside: a file, a database, an API',
    {
      verb: 'GET',
      step_name: 'read_order',
      input: { order: 1207 },
      properties: { target: { host: 'orders.internal' } },
    },
  ],
  'step.message': [
    'receive (GET) or send (POST) a message',
    {
      verb: 'POST',
      step_name: 'send_mail',
      input: { to: 'mia@example.org' },
      properties: { counterpart: { kind: 'user' } },
    },
  ],
  'step.self': [
    "the agent's own memory, plan or scratchpad",
    { verb: 'POST', step_name: 'remember', input: { note: 'asked twice' } },
  ],
  'step.model': [
    'call a model',
    { verb: 'POST', step_name: 'chat', properties: { usage: { total_tokens: 812, cost_usd: 0.004 } } },
  ],
  'step.credential': [
    'fetch a secret',
    { verb: 'GET', step_name: 'read_token', properties: { auth: { method: 'vault' } } },
  ],
  'step.exec': ['run code or a command', { step_name: 'shell', properties: { exec: { command: 'npm test' } } }],
  'step.gate': [
    'an approval, a check or a guardrail was passed or failed',
    { step_name: 'ask_manager', properties: { guard: { check_type: 'human_approval', result: 'passed' } } },
  ],
  'step.unknown': ['cannot be classified', { step_name: 'custom_tool' }],
}

export const stepWords: readonly StepWord[] = Object.entries(meanings).map(([name, [meaning, example]]) => {
  const step_type = name as StepType
  return { step_type, verbs: verbsOf[step_type], meaning, example: { step_type, ...example } }
})

/** Older names of step types; rules compare them as the newer ones. */
export const stepAliases: Readonly<Record<string, string>> = Object.fromEntries(aliases)

/** Labels, kinds and hosts: a policy that names one means it in any letters. */
const wordProperties: ReadonlySet<string> = new Set([
  'target.host',
  'target.trust',
  'target.resource_type',
  'data.classification',
  'guard.check_type',
  'auth.method',
  'counterpart.kind',
  'counterpart.trust',
  'content.trust',
  'content.sensitivity',
])

/**
 * Properties that policies trust and whose list is complete by its meaning. `counterpart.kind` and `content.sensitivity` are
 * open: organizations have further kinds and levels, such as `customer` and `restricted`.
 */
const closedProperties: ReadonlySet<string> = new Set(['target.trust', 'content.trust'])

const property = (
  name: string,
  values: string,
  holds: PropertyWord['holds'],
  meaning: string,
  value: unknown,
): PropertyWord => ({
  name,
  values,
  closed: closedProperties.has(name),
  holds,
  compared: wordProperties.has(name) ? 'word' : 'exactly',
  meaning,
  example: name.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as JsonMap,
})

/** Well-known properties; others may be recorded as well, outside these namespaces. */
export const propertyWords: readonly PropertyWord[] = [
  property('target.host', 'text', 'metadata', 'the host that is read or changed', 'api.example.com'),
  property(
    'target.trust',
    'internal | external',
    'metadata',
    'whether the target is outside the organization',
    'external',
  ),
  property('target.resource_type', 'text', 'metadata', 'the kind of resource', 'invoice'),
  property('target.path', 'text', 'content', 'the file or path that is read or changed', '/srv/data/orders.csv'),
  property('data.classification', 'text or list', 'metadata', 'how sensitive the data is', 'confidential'),
  property('data.subject_id', 'text', 'content', 'the data subject', 'customer-1207'),
  property('exec.command', 'text or list', 'content', 'the command that runs', 'npm test'),
  property('guard.check_type', 'text', 'metadata', 'the kind of check of a gate', 'human_approval'),
  property('guard.result', 'text or true | false', 'metadata', 'the result of the gate', 'passed'),
  property('guard.status', 'text', 'metadata', 'the same, under another name', 'approved'),
  property('guard.decision', 'text', 'metadata', 'the same, under another name', 'allow'),
  property('guard.passed', 'true | false', 'metadata', 'the same, under another name', true),
  property('guard.approved', 'true | false', 'metadata', 'the same, under another name', true),
  property('usage.total_tokens', 'number', 'metadata', 'tokens that a model call used', 812),
  property('usage.cost_usd', 'number', 'metadata', 'the cost of the step, in US dollars', 0.004),
  property('auth.principal', 'text', 'metadata', 'on whose behalf the step acts', 'mia@example.org'),
  property('auth.method', 'text', 'metadata', 'how it is authenticated', 'oauth'),
  property('counterpart.kind', 'user | agent | service', 'metadata', 'the sender or recipient of a message', 'user'),
  property('counterpart.trust', 'text', 'metadata', 'how trusted the counterpart is', 'external'),
  property('content.trust', 'own | third_party | public', 'metadata', 'who wrote the received content', 'public'),
  property('content.trust_of', 'map of path to label', 'content', 'the same for parts of the output', {
    'emails.*.body': 'third_party',
  }),
  property(
    'content.sensitivity',
    'public | internal | confidential | secret',
    'metadata',
    'how sensitive the content is',
    'internal',
  ),
  property('content.synthetic', 'true | false', 'metadata', 'whether a model made the content', true),
  property('content.marked', 'true | false', 'metadata', 'whether synthetic content is marked as such', true),
  property(
    'disclosure.ai',
    'true | false',
    'metadata',
    'whether people are informed that they interact with an AI',
    true,
  ),
  property('tool.source', 'text', 'metadata', 'where the tool comes from', 'https://tools.example.com/refund'),
  property('tool.version', 'text', 'metadata', 'its version', '2.1.0'),
  property('tool.digest', 'text', 'metadata', 'the digest of its code or description', `sha256:${'0'.repeat(64)}`),
  property('svc.subagent.id', 'text', 'metadata', 'the sub-agent that performs the step', 'researcher-1'),
  property('svc.subagent.depth', 'number', 'metadata', 'the number of its parent agents', 1),
  property('svc.subagent.spawn_step', 'number', 'metadata', 'the step that started it', 4),
]

/** The values of the properties with a closed list. */
export const closedValues: ReadonlyMap<string, readonly string[]> = new Map(
  propertyWords.flatMap(({ name, values, closed }) => (closed ? [[name, values.split(' | ')] as const] : [])),
)

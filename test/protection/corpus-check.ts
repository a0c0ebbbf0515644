// The form of the protection corpus, and the checks of its names: what a file may hold, what it may refer to.
import { didYouMean, lazyCheck } from '@svc/engine/parts'
import type { Behavior, JsonMap } from '@svc/schemas'

/** What an injected instruction is after, or the way that it takes. */
export const attackKinds = [
  'payment',
  'same_payee',
  'recipient',
  'body',
  'link',
  'search_query',
  'web_visit',
  'password',
  'deletion',
  'choice',
  'memory',
  'memory_across',
  'subagent',
] as const
/** How the evasive variant of an attack hides its values. */
export const evasions = ['split', 'respelt', 'encoded', 'translated'] as const
export type AttackKind = (typeof attackKinds)[number]
export type Evasion = (typeof evasions)[number]

export interface Tool {
  readonly description: string
  /** Types by name: `string`, `string[]`, `string|list`; a type that ends in `?` is optional. */
  readonly parameters: Readonly<Record<string, string>>
  readonly step: Pick<Behavior, 'step_type' | 'verb' | 'properties'>
}

export interface ToolCall {
  readonly call: string
  readonly input: JsonMap
  readonly output: JsonMap
  /** Merged over the properties of the tool. */
  readonly properties?: JsonMap
  /** The call does the damage. */
  readonly harm?: boolean
}

export type HonestCall = ToolCall | { readonly user: string }

export interface HonestTask {
  readonly id: string
  readonly tools: readonly string[]
  readonly user: string
  readonly calls: readonly HonestCall[]
  readonly reply: string
  /** Where content that others write is first read: an index of `calls`, and a path below its output. */
  readonly carrier?: { readonly call: number; readonly field: string }
}

export interface Variant {
  readonly injection: string
  readonly calls: readonly ToolCall[]
  /** The second task of an attack through memory. */
  readonly later?: { readonly task: string; readonly calls: readonly ToolCall[] }
}

export interface Goal {
  readonly id: string
  readonly kind: AttackKind
  readonly tasks: readonly string[]
  readonly plain: Variant
  readonly evasive: Variant & { readonly how: Evasion }
}

/** The three files of a domain. */
export interface Written {
  readonly tools: { readonly agent: JsonMap; readonly tools: Readonly<Record<string, Tool>> }
  readonly honest: readonly HonestTask[]
  readonly attacks: { readonly goals: readonly Goal[] }
}

const text = { type: 'string', minLength: 1 }
const map = { type: 'object' }
const closed = (properties: JsonMap, optional: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})
const listOf = (items: JsonMap) => ({ type: 'array', minItems: 1, items })

const type = String.raw`(string|number|integer|boolean|object|list)(\[\])?`
const toolsForm = closed({
  agent: {
    type: 'object',
    required: ['agent_key', 'purpose', 'owner_id', 'environment', 'risk_classification'],
  },
  tools: {
    type: 'object',
    additionalProperties: closed({
      description: text,
      parameters: { type: 'object', additionalProperties: { type: 'string', pattern: `^${type}(\\|${type})*\\??$` } },
      step: closed({ step_type: text, verb: text, properties: map }, ['verb']),
    }),
  },
})

const call = closed({ call: text, input: map, output: map, properties: map, harm: { type: 'boolean' } }, [
  'properties',
  'harm',
])
const honestForm = listOf(
  closed(
    {
      id: text,
      tools: listOf(text),
      user: text,
      calls: listOf(
        closed({ user: text, call: text, input: map, output: map, properties: map }, [
          'user',
          'call',
          'input',
          'output',
          'properties',
        ]),
      ),
      reply: text,
      carrier: closed({ call: { type: 'integer', minimum: 0 }, field: text }),
    },
    ['carrier'],
  ),
)

const variant = { injection: text, calls: listOf(call), later: closed({ task: text, calls: listOf(call) }) }
const attacksForm = closed({
  goals: listOf(
    closed({
      id: text,
      kind: { type: 'string', enum: attackKinds },
      tasks: listOf(text),
      plain: closed(variant, ['later']),
      evasive: closed({ how: { type: 'string', enum: evasions }, ...variant }, ['later']),
    }),
  ),
})

const forms = { tools: lazyCheck(toolsForm), honest: lazyCheck(honestForm), attacks: lazyCheck(attacksForm) }

/** Every problem of a domain as a sentence that begins with its place; names are checked only where the form is right. */
export function problemsOf(files: Readonly<Record<keyof Written, unknown>>): string[] {
  const found = (['tools', 'honest', 'attacks'] as const).flatMap((name) =>
    forms[name](files[name]).map(({ path, message }) => `${[`${name}.yaml`, ...path].join('.')}: ${message}`),
  )
  if (found.length > 0) return found
  const domain = files as Written
  return [...honestProblems(domain), ...attackProblems(domain)]
}

function honestProblems({ tools: { tools }, honest }: Written): string[] {
  const ids = honest.map(({ id }) => id)
  return honest.flatMap((task) => {
    const at = `honest.yaml, task \`${task.id}\``
    const calls = task.calls.flatMap((one, index) => {
      const place = `${at}, calls.${index}`
      if ('user' in one) return 'call' in one ? [`${place}: has \`user\` and \`call\`; write two entries`] : []
      if (one.call === undefined || one.input === undefined || one.output === undefined)
        return [`${place}: must have \`user\`, or \`call\` with \`input\` and \`output\``]
      const given = task.tools.includes(one.call)
        ? []
        : [`${place}: \`${one.call}\` is missing in \`tools\` of the task`]
      return [...given, ...callProblems(tools, one, place)]
    })
    const unknown = task.tools.filter((name) => !Object.hasOwn(tools, name))
    return [
      ...(ids.indexOf(task.id) === ids.lastIndexOf(task.id) ? [] : [`${at}: the id is used twice`]),
      ...unknown.map((name) => `${at}: unknown tool \`${name}\`${didYouMean(name, Object.keys(tools))}`),
      ...calls,
      ...carrierProblems(tools, task, at),
    ]
  })
}

function callProblems(tools: Written['tools']['tools'], { call: name, input }: ToolCall, at: string): string[] {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
  if (tool === undefined) return [`${at}: unknown tool \`${name}\`${didYouMean(name, Object.keys(tools))}`]
  const parameters = Object.entries(tool.parameters)
  const missing = parameters.filter(([parameter, type]) => !type.endsWith('?') && !Object.hasOwn(input, parameter))
  const known = Object.keys(tool.parameters)
  return [
    ...missing.map(([parameter]) => `${at}: \`input.${parameter}\` is missing; \`${name}\` requires it`),
    ...Object.entries(input).flatMap(([parameter, value]) => {
      const type = Object.hasOwn(tool.parameters, parameter) ? tool.parameters[parameter] : undefined
      if (type === undefined)
        return [`${at}: \`input.${parameter}\` is not a parameter of \`${name}\`${didYouMean(parameter, known)}`]
      return fits(value, type) ? [] : [`${at}: \`input.${parameter}\` must be ${type}, found ${typeName(value)}`]
    }),
  ]
}

const typeName = (value: unknown) => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value)

function fits(value: unknown, written: string): boolean {
  return written
    .replace('?', '')
    .split('|')
    .some((type) => {
      if (type.endsWith('[]')) return Array.isArray(value) && value.every((item) => fits(item, type.slice(0, -2)))
      return type === 'integer' ? Number.isInteger(value) : type === typeName(value)
    })
}

function carrierProblems(tools: Written['tools']['tools'], { calls, carrier }: HonestTask, at: string): string[] {
  if (carrier === undefined) return []
  const place = `${at}, carrier`
  const read = calls[carrier.call]
  if (read === undefined || 'user' in read) return [`${place}: calls.${carrier.call} is not a call of a tool`]
  const tool = tools[read.call]
  if (tool === undefined) return []
  const value = valueAt(read.output, carrier.field.split('.'))
  if (typeof value !== 'string') return [`${place}: \`output.${carrier.field}\` must be text, found ${typeName(value)}`]
  const label = labelOf(mergedMaps(tool.step.properties ?? {}, read.properties ?? {}), carrier.field)
  if (label === 'third_party' || label === 'public') return []
  return [`${place}: \`output.${carrier.field}\` must be labelled third_party or public, found \`${label}\``]
}

/** The label of a field of the output: of the deepest path of `content.trust_of` that leads to it, otherwise of the content. */
function labelOf(properties: JsonMap, field: string): unknown {
  const { trust, trust_of = {} } = (properties.content ?? {}) as { trust?: unknown; trust_of?: JsonMap }
  const segments = field.split('.')
  const leading = Object.keys(trust_of).filter((path) =>
    path.split('.').every((part, index) => part === segments[index] || (part === '*' && index < segments.length)),
  )
  const [deepest] = leading.sort((a, b) => b.split('.').length - a.split('.').length)
  return deepest === undefined ? trust : trust_of[deepest]
}

export function valueAt(value: unknown, segments: readonly string[]): unknown {
  return segments.reduce<unknown>(
    (found, name) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? (found as JsonMap)[name] : undefined,
    value,
  )
}

/** Members of `over` replace those of `under`; maps are merged. */
export function mergedMaps(under: JsonMap, over: JsonMap): JsonMap {
  const isMap = (value: unknown): value is JsonMap => typeName(value) === 'object'
  const merged = Object.entries(over).map(([name, value]) => {
    const before = under[name]
    return [name, isMap(before) && isMap(value) ? mergedMaps(before, value) : value]
  })
  return { ...under, ...Object.fromEntries(merged) }
}

function attackProblems({ tools: { tools }, honest, attacks }: Written): string[] {
  const tasks = new Map(honest.map((task) => [task.id, task]))
  const unknownTask = (id: string) => `unknown honest task \`${id}\`${didYouMean(id, tasks.keys())}`
  const ids = attacks.goals.map(({ id }) => id)
  return attacks.goals.flatMap((goal) => {
    const at = `attacks.yaml, goal \`${goal.id}\``
    return [
      ...(ids.indexOf(goal.id) === ids.lastIndexOf(goal.id) ? [] : [`${at}: the id is used twice`]),
      ...(new Set(goal.tasks).size === goal.tasks.length ? [] : [`${at}, tasks: a task is named twice`]),
      ...goal.tasks.flatMap((id) => {
        if (!tasks.has(id)) return [`${at}, tasks: ${unknownTask(id)}`]
        return tasks.get(id)?.carrier === undefined
          ? [`${at}, tasks: the honest task \`${id}\` has no \`carrier\``]
          : []
      }),
      ...(['plain', 'evasive'] as const).flatMap((name) => {
        const { later, calls } = goal[name]
        const place = `${at}, ${name}`
        const all = [...calls, ...(later?.calls ?? [])]
        return [
          ...all.flatMap((one) => callProblems(tools, one, `${place}, call of \`${one.call}\``)),
          ...(all.some(({ harm }) => harm === true) ? [] : [`${place}: a call with \`harm: true\` is missing`]),
          ...(later === undefined || tasks.has(later.task) ? [] : [`${place}, later: ${unknownTask(later.task)}`]),
          ...kindProblems(tools, goal.kind, goal[name]).map((problem) => `${place}: ${problem}`),
        ]
      }),
    ]
  })
}

/** An attack through memory writes a note and reads it again; one through a sub-agent has steps of it. */
function kindProblems(tools: Written['tools']['tools'], kind: AttackKind, { calls, later }: Variant): string[] {
  const all = [...calls, ...(later?.calls ?? [])]
  const acts = (verb: string) => (one: ToolCall) =>
    tools[one.call]?.step.step_type === 'step.self' && tools[one.call]?.step.verb === verb
  if ((kind === 'memory_across') !== (later !== undefined))
    return [`\`later\` must be present if the kind is memory_across, and only then; the kind is ${kind}`]
  if (kind === 'subagent') {
    const inside = all.some(({ properties }) => valueAt(properties, ['svc', 'subagent', 'id']) !== undefined)
    return inside ? [] : ['a call with `properties.svc.subagent.id` is missing']
  }
  if (kind !== 'memory' && kind !== 'memory_across') return []
  const written = calls.findIndex(acts('POST'))
  const read = later === undefined ? calls.findIndex(acts('GET')) : later.calls.findIndex(acts('GET'))
  if (written === -1 || read === -1) return ['a call that saves a note and one that reads the notes are required']
  return later === undefined && read < written ? ['the note must be saved before it is read'] : []
}

// The operation of a span of an agent: a call of a model, of a tool or of an agent, by the semantic conventions for generative AI.
// Names of older versions and of common libraries come after the current ones.
import type { Body } from '../step-body.js'
import type { Attributes } from './any-value.js'
import { kindAttributes, kindValues, modelNames, modelOperationIds, toolCallNames, toolNames } from './conventions.js'
import { isOwnStep } from './own-step.js'
import type { Span } from './span.js'

export type Operation =
  | { readonly kind: 'model' | 'tool' | 'agent' }
  /** A step of the local engine, which the span has whole. */
  | { readonly kind: 'own' }
  /** A step that the operation alone settles. */
  | ({ readonly kind: 'step' } & Pick<Body, 'step_type' | 'verb'>)

const model: Operation = { kind: 'model' }
const tool: Operation = { kind: 'tool' }
const agent: Operation = { kind: 'agent' }
const own: Operation = { kind: 'own' }
const retrieval: Operation = { kind: 'step', step_type: 'step.resource', verb: 'GET' }
const ofMemory = (verb: 'GET' | 'POST' | 'PATCH' | 'DELETE'): Operation => ({
  kind: 'step',
  step_type: 'step.self',
  verb,
})

/** By `gen_ai.operation.name`. */
const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ['chat', model],
  ['text_completion', model],
  ['completion', model],
  ['generate_content', model],
  ['embeddings', model],
  ['execute_tool', tool],
  ['invoke_agent', agent],
  ['create_agent', { kind: 'step', step_type: 'step.resource', verb: 'POST' }],
  ['retrieval', retrieval],
  ['search_memory', ofMemory('GET')],
  ['create_memory', ofMemory('POST')],
  ['create_memory_store', ofMemory('POST')],
  ['update_memory', ofMemory('PATCH')],
  ['upsert_memory', ofMemory('PATCH')],
  ['delete_memory', ofMemory('DELETE')],
  ['delete_memory_store', ofMemory('DELETE')],
])

/** By the kind of span of libraries that have names of their own. */
const kinds: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ...kindValues.model.map((kind) => [kind, model] as const),
  ...kindValues.tool.map((kind) => [kind, tool] as const),
  ...kindValues.agent.map((kind) => [kind, agent] as const),
  ...kindValues.retrieval.map((kind) => [kind, retrieval] as const),
])

/** Some libraries write a word as JSON text. */
function plain(word: unknown): unknown {
  return typeof word === 'string' ? word.trim().toLowerCase().replaceAll('"', '') : word
}

/** The operation of a span; null for a span beside the acts of an agent, such as a request of a tool to a database. */
export function operationOf({ attributes }: Span): Operation | null {
  if (isOwnStep({ attributes })) return own
  const name = attributes.get('gen_ai.operation.name')
  const kind = kindAttributes.map((each) => attributes.get(each)).find((value) => value !== undefined)
  const known = name === undefined ? kinds.get(plain(kind)) : operations.get(plain(name))
  if (known !== undefined) return known
  // A call of a tool under an unknown operation is a call of a tool.
  if (nameIn(attributes, ...toolCallNames) !== null) return tool
  if (name !== undefined || kind !== undefined) return null
  const id = nameIn(attributes, 'ai.operationId')
  if (id !== null) return modelOperationIds.test(id) ? model : null
  return modelOf(attributes) === null && !attributes.has('llm.request.type') ? null : model
}

/** The first of the attributes that has a name. */
export function nameIn(attributes: Attributes, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = attributes.get(name)
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

/** The model that was asked for, else the one that answered. */
export function modelOf(attributes: Attributes): string | null {
  return nameIn(attributes, ...modelNames)
}

/** The name of the tool; spans of older versions have it in their own name only. */
export function toolNameOf({ name, attributes }: Span): string {
  const given = nameIn(attributes, ...toolNames)
  return given ?? (name.replace(/^execute_tool /, '') || name)
}

/** The agent of a span, by its id and by its name. */
export interface AgentName {
  readonly id: string | null
  readonly name: string | null
}

export function agentNameOf({ name, attributes }: Span): AgentName {
  const given = nameIn(attributes, 'gen_ai.agent.name', 'agent.name', 'traceloop.entity.name')
  const [, shown = null] = /^invoke_agent (.+)$/s.exec(name) ?? []
  return { id: nameIn(attributes, 'gen_ai.agent.id'), name: given ?? shown }
}

/** `usage` of a step that called a model; empty when the span has none. */
export function usageOf(attributes: Attributes): { readonly total_tokens?: number; readonly cost_usd?: number } {
  const counted = (...names: readonly string[]) => numberIn(attributes, names)
  const total = counted('gen_ai.usage.total_tokens', 'llm.usage.total_tokens', 'llm.token_count.total')
  const parts = [
    counted('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt'),
    counted('gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion'),
  ].filter((part) => part !== null)
  const total_tokens = total ?? (parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0))
  const cost_usd = counted('gen_ai.usage.cost', 'gen_ai.usage.cost_usd', 'operation.cost')
  return { ...(total_tokens !== null && { total_tokens }), ...(cost_usd !== null && { cost_usd }) }
}

function numberIn(attributes: Attributes, names: readonly string[]): number | null {
  for (const name of names) {
    const value = attributes.get(name)
    if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  }
  return null
}

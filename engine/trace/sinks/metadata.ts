// A trace without payloads (SVC_LOG_PAYLOADS=metadata_only): what is not known to be metadata is left out, and what is left
// out must not make a step look better than it was (docs/adr/0051-decisions-and-metadata.md).
import { isMap } from '@svc/proof'
import { type Behavior, type JsonMap, propertyWords } from '@svc/schemas'
import { withOneMemoryLabel } from '../../memory/labels.js'
import { digestOfGate, isGateWord } from '../../rules/gates/gate-words.js'
import { registeredMember, toolName, toolsMember } from '../../rules/selection/task-tools.js'
import { everyLabel, labelsOrPublic, leastTrusted, memoryMember } from '../../rules/taint/labels.js'
import { prototypeKeys } from '../../rules/values/members.js'
import { payloadsMember } from '../../task/logged.js'
import type { Environment } from './settings.js'
import type { TraceLine } from './sink.js'

/** In place of a text that may hold content: no result of a gate, no level of trust. */
const withheld = 'withheld'

export const payloadChoices = ['all', 'metadata_only'] as const

/** The value of SVC_LOG_PAYLOADS, in any case of letters and with `-` for `_`; null for an unknown value. */
export function payloadsIn({ SVC_LOG_PAYLOADS = '' }: Environment): (typeof payloadChoices)[number] | null {
  const word = SVC_LOG_PAYLOADS.trim().toLowerCase().replaceAll('-', '_')
  if (word === '' || word === 'full') return 'all'
  return payloadChoices.find((choice) => choice === word) ?? null
}

/** The line without input, output and all that can hold content. */
export function withoutPayloads(line: TraceLine): TraceLine {
  if (line.kind === 'evaluation') return { ...line, intended: metadataOf(line.intended) }
  if (line.kind !== 'step') return line
  const { kind, recorded_at, ...step } = line
  return { kind, recorded_at, ...metadataOf(step) }
}

function metadataOf(step: Behavior): Behavior {
  const { input: _input, output: _output, properties: _properties, ...rest } = step
  const input = step.step_type === 'step.gate' ? digestOfGate(step) : null
  const output = outputOf(step)
  const properties = step.properties === undefined ? undefined : propertiesOf(step, step.properties)
  return {
    ...rest,
    ...(input !== null && { input: { action_digest: input } }),
    ...(Object.keys(output).length > 0 && { output }),
    ...(properties !== undefined && { properties }),
    meta: { ...metaOf(withOneMemoryLabel(step).meta ?? {}), [payloadsMember]: 'metadata_only' },
  }
}

const resultsOfGate = ['status', 'result', 'decision', 'approved']

/** The result of the step. A rejected gate without it would count as passed, and a blocked step as one that ran. */
function outputOf({ step_type, output = {} }: Behavior): JsonMap {
  const keys = step_type === 'step.gate' ? resultsOfGate : ['status']
  const results = keys.filter((key) => Object.hasOwn(output, key) && output[key] !== null)
  return Object.fromEntries(results.map((key) => [key, resultWord(output[key])]))
}

function resultWord(value: unknown): unknown {
  return typeof value === 'boolean' || (typeof value === 'string' && isGateWord(value)) ? value : withheld
}

const holds: ReadonlyMap<string, 'metadata' | 'content'> = new Map(
  propertyWords.map((word) => [word.name, word.holds] as const),
)
const contentNames = propertyWords.filter((word) => word.holds === 'content').map(({ name }) => name)
const gateResults = new Set(['result', 'status', 'decision', 'passed', 'approved'].map((name) => `guard.${name}`))
const toolsName = 'declared_tools'
/** The names of properties that are kept beside the well-known ones: other text could be content. */
const plainName = /^[A-Za-z_][\w.-]{0,63}$/

/** Every spelling keeps its place, so that two values of one field stay ambiguous. */
function propertiesOf(step: Behavior, properties: JsonMap): JsonMap {
  const kept = keptMembers('', properties)
  if (!hasLabels(properties)) return kept
  // The paths of labels hold keys of the output: the least trusted label counts for all of it.
  const trust = leastTrusted(everyLabel(labelsOrPublic({ ...step, meta: {} })))
  if (trust === null) return kept
  const { 'content.trust': _trust, content, ...others } = kept
  return { ...others, content: { ...(isMap(content) ? content : {}), trust } }
}

/** True if `content` states labels otherwise than as `content.trust`. */
function hasLabels(properties: JsonMap): boolean {
  const { content } = properties
  if (typeof content === 'string') return true
  const keys = isMap(content) ? Object.keys(content).map((key) => `content.${key}`) : []
  return [...Object.keys(properties), ...keys].some((key) => /^content\.trust_of($|\.)/.test(key))
}

function keptMembers(prefix: string, members: JsonMap): JsonMap {
  const kept = Object.entries(members)
    .filter(([key]) => plainName.test(key) && !prototypeKeys.has(key))
    .map(([key, value]) => [key, keptValue(prefix + key, value)] as const)
    .filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept)
}

/** Undefined for what is left out. */
function keptValue(path: string, value: unknown): unknown {
  if (contentNames.some((name) => path === name || path.startsWith(`${name}.`))) return undefined
  if (path === toolsName) return toolNames(value)
  if (holds.has(path)) return value === null ? undefined : metadataIn(path, value)
  if (isMap(value)) {
    const members = keptMembers(`${path}.`, value)
    return Object.keys(members).length > 0 ? members : undefined
  }
  return plain(value)
}

/** A number or a boolean, which holds no content; undefined for anything else. */
function plain(value: unknown): number | boolean | undefined {
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) ? value : undefined
}

/** Items of a list of metadata, such as the classes of some data. */
const maxItems = 20

function metadataIn(path: string, value: unknown): unknown {
  if (gateResults.has(path)) return resultWord(value)
  if (!Array.isArray(value)) return scalarIn(path, value)
  const items = value.slice(0, maxItems).map((item) => scalarIn(path, item))
  return value.length > maxItems ? [...items, withheld] : items
}

function scalarIn(path: string, value: unknown): unknown {
  if (typeof value !== 'string') return plain(value) ?? withheld
  const isKept = path === 'target.host' ? /^[\w.:*[\]-]{1,255}$/.test(value) : isShort(value)
  return isKept ? value : withheld
}

/** Longer text, or text of several lines, could be a payload. */
function isShort(text: string): boolean {
  return text.length <= 200 && !/\p{Cc}/u.test(text)
}

/** The names of tools; a list that cannot be read names none. */
function toolNames(value: unknown): string[] {
  const names = Array.isArray(value) ? value.map(toolName) : []
  return names.filter((name): name is string => name !== null && isShort(name))
}

/** Members of `meta` that only the engine writes, and that hold no payload. */
const ownMembers = new Set(['svc.eval', 'svc.late', 'svc.manifests', memoryMember])

function metaOf(meta: JsonMap): JsonMap {
  const kept = Object.entries(meta)
    .filter(([key]) => plainName.test(key) && !prototypeKeys.has(key))
    .map(([key, value]) => [key, keptMeta(key, value)] as const)
    .filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept)
}

function keptMeta(key: string, value: unknown): unknown {
  if (ownMembers.has(key)) return value
  if (key === toolsMember || key === `agent.${toolsName}`) return toolNames(value)
  if (key === 'agent' && isMap(value)) return agentIn(value)
  if (key === 'otel' && isMap(value)) return idsIn(value)
  if (key === 'evaluation_id') return typeof value === 'string' && /^[\w-]{1,64}$/.test(value) ? value : undefined
  return plain(value)
}

function agentIn({ agent_key, name, [toolsName]: tools, [registeredMember]: registered }: JsonMap): JsonMap {
  return {
    ...(registered !== undefined && { [registeredMember]: registered === null ? null : toolNames(registered) }),
    ...(typeof agent_key === 'string' && isShort(agent_key) && { agent_key }),
    ...(typeof name === 'string' && isShort(name) && { name }),
    ...(tools !== undefined && tools !== null && { [toolsName]: toolNames(tools) }),
  }
}

function idsIn(otel: JsonMap): JsonMap {
  const ids = ['trace_id', 'span_id', 'parent_span_id'].filter((key) => /^[0-9a-f]{16,32}$/.test(String(otel[key])))
  return Object.fromEntries(ids.map((key) => [key, otel[key]]))
}

// A flat body of a low-code tool as a step (docs/design/platform.md §2).
import { meaningOf } from '@svc/engine'
import { taskIdOf } from '@svc/engine/parts'
import { canonical, isMap } from '@svc/proof'
import { type AgentRegistration, canonicalType, type JsonMap } from '@svc/schemas'
import { invalid } from '../../errors.js'
import { validated } from '../../http/validate.js'
import type { StepRequest } from '../step-request.js'
import { booleanIn, type FlatBody, flatBody, idIn, mapIn, messageIn, numberIn, payloadIn, textIn } from './flat-body.js'
import { slipsIn } from './slips.js'
import { stepTypeOf, timeOf, verbOf, type Writer, writerOf } from './words.js'

export interface CopilotCall {
  /** The agent as the body describes it; null when it names none. */
  readonly agent: AgentRegistration | null
  /** The id of the agent as it was sent; its key is another one if the id cannot be a key. */
  readonly bot_id: string | null
  readonly request: StepRequest
  /** Members that are kept as properties, and were probably meant otherwise. */
  readonly warnings: readonly string[]
}

/** Reads a body that arrived at `now`, RFC 3339. Throws INVALID naming what is missing. */
export function readCopilotCall(body: JsonMap, now: string): CopilotCall {
  const flat = flatBody(body)
  const bot_id = flat.take(botNames, idIn)
  const agent = agentIn(flat, bot_id)
  const conversation = flat.take(conversationNames, idIn)
  if (conversation === null) throw lacks(flat, 'conversation_id', conversationNames, 'send the id of the conversation')
  const task_id = isId(conversation) ? conversation : taskIdOf(agent?.agent_key ?? '', conversation)
  const { message_id, number, properties: derived, ...step } = stepIn(flat, now)
  const { properties, meta: notes, warnings } = othersIn(flat, derived, isStart(step) ? agent : moreThanNamed(agent))
  const kept = withoutNulls({ conversation_id: task_id === conversation ? null : conversation, step_number: number })
  const meta = { ...notes, ...kept }
  const named = { task_id, ...(agent !== null && { agent_key: agent.agent_key }) }
  const request = { ...named, ...step, ...(Object.keys(properties).length > 0 && { properties }), meta }
  const origins = originsOf(request, message_id)
  // INVARIANT (numbers): the log assigns them, because it starts the task; the sender's own would be those of other steps.
  validated('log-request', { step: 1, ...request })
  return { agent, bot_id, request: { ...request, ...(origins.length > 0 && { origins }) }, warnings }
}

const botNames = ['agentkey', 'botid', 'bot', 'agentid', 'agent', 'copilotid', 'assistantid']
const conversationNames = ['taskid', 'conversationid', 'conversation', 'sessionid', 'threadid', 'chatid']
const textNames = ['text', 'message', 'content', 'utterance']

/** INVALID for a member that is missing, or that has a value which cannot be used. */
function lacks(flat: FlatBody, path: string, names: readonly string[], remedy: string) {
  const found = flat.unusable(names)
  const problem =
    found === null ? 'is missing' : found === '' ? 'is empty' : `must be text or a number, found ${kindOf(found)}`
  const [slip] = slipsIn(flat.rest())
  return invalid([{ path, message: `${problem}: ${remedy}${slip === undefined ? '' : `; ${slip}`}` }])
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return isMap(value) ? 'an object' : `\`${String(value)}\``
}

function agentIn(flat: FlatBody, id: string | null): AgentRegistration | null {
  const name = flat.take(['name', 'botname', 'agentname', 'copilotname'], textIn)
  if (id === null) return null
  const about = ['purpose', 'owner_id', 'risk_classification', 'environment', 'declared_tools'] as const
  const others = about.map((member) => [member, flat.take([member.replaceAll('_', '')], (value) => value)] as const)
  const sent = Object.fromEntries(others.filter(([, value]) => value !== null))
  // An id with other characters cannot be a key: its name is kept.
  const agent_key = isId(id) ? id : taskIdOf('bot', id)
  const named = name ?? (agent_key === id ? null : id)
  return validated('agent-registration', { agent_key, ...(named !== null && { name: named }), ...sent })
}

/** Agents and tasks have ids of these characters. */
function isId(text: string): boolean {
  return /^[ -~]{1,200}$/.test(text)
}

function stepIn(flat: FlatBody, now: string) {
  const tool = flat.take(['tool', 'toolname', 'function', 'functionname'], textIn)
  const step_name = flat.take(['stepname'], textIn) ?? tool
  const word = flat.take(['steptype'], textIn)
  const text = flat.take(textNames, messageIn)
  const writer = flat.take(['role', 'sender', 'author', 'direction', 'from'], writerOf)
  const input = flat.take(['input', 'inputs', 'arguments', 'parameters'], payloadIn)
  const output = flat.take(['output', 'outputs', 'result', 'response'], payloadIn)
  if (word === null && tool === null && text === null && input === null && output === null)
    throw lacks(flat, 'text', textNames, 'send it, `tool`, `step_type`, `input` or `output`')
  const named = word === null ? null : stepTypeOf(word)
  const guess = named === null && step_name !== null ? meaningOf(step_name, {}) : null
  const step_type = named ?? guess?.step_type ?? (word === null ? 'step.message' : 'step.unknown')
  const isMessage = step_type === 'step.message'
  const verb = flat.take(['verb', 'method'], verbOf) ?? guess?.verb ?? (isMessage ? verbBy(writer) : null)
  const number = flat.take(['step', 'stepnumber'], stepNumberIn)
  const flags = {
    is_external_call: flat.take(['isexternalcall'], booleanIn),
    has_write_permission: flat.take(['haswritepermission'], booleanIn),
  }
  return {
    step_type,
    timestamp: flat.take(['timestamp', 'time', 'createdat', 'date'], timeOf) ?? now,
    ...withoutNulls({ verb, step_name, ...flags }),
    ...payloads(text, input, output, isMessage && verb === 'GET'),
    properties: { ...guess?.properties, ...(isMessage && writer !== null && { counterpart: { kind: 'user' } }) },
    number,
    message_id: flat.take(['messageid', 'activityid', 'eventid', 'stepid'], idIn),
  }
}

/** A message of the user is received, one of the bot is sent. */
function verbBy(writer: Writer | null) {
  return writer === null ? null : writer === 'user' ? ('GET' as const) : ('POST' as const)
}

/** A received text is the output of its step. */
function payloads(text: string | null, input: JsonMap | null, output: JsonMap | null, isReceived: boolean) {
  const own = text === null ? {} : { text }
  const given = {
    input: isReceived ? input : withText(input, own),
    output: isReceived ? withText(output, own) : output,
  }
  return withoutNulls(given)
}

function withText(payload: JsonMap | null, own: JsonMap): JsonMap | null {
  return payload === null && Object.keys(own).length === 0 ? null : { ...own, ...payload }
}

function stepNumberIn(value: unknown): number {
  const number = numberIn(value)
  if (number !== null) return number
  throw invalid([{ path: 'step', message: 'must be a whole number from 1, or absent: the log then numbers the step' }])
}

/**
 * A step that is sent again has its id, or its sender's number, and its content, so that an id that another step has used hides no step. Times are left
 * out: tools may stamp each attempt. A start without content has one identity, so that a conversation starts once.
 */
function originsOf(request: StepRequest, message_id: string | null): string[] {
  const { timestamp: _time, agent_key: _key, task_id: _task, ...content } = request
  const text = canonical(content)
  const is_numbered = request.meta?.step_number !== undefined
  const own = message_id === null ? (is_numbered ? [`step:${text}`] : []) : [`message:${message_id}:${text}`]
  if (!isStart(request)) return own
  const { step_type: _type, meta: _meta, ...others } = content
  const hasContent = Object.keys(others).length > 0
  return hasContent ? [...own, `${startOrigin}:${text}`, startOrigin] : [...own, startOrigin]
}

export function isStart({ step_type }: Pick<StepRequest, 'step_type'>): boolean {
  return canonicalType(step_type) === 'task.start'
}

/** The agent of a later call if it has more than a key and a name: it is registered, and stays as it is. */
function moreThanNamed(agent: AgentRegistration | null): AgentRegistration | null {
  const { agent_key: _key, name: _name, ...more } = agent ?? { agent_key: '' }
  return Object.keys(more).length > 0 ? agent : null
}

/** The identity of the first step of a conversation. */
export const startOrigin = 'start'

/** Every member that has no other meaning is a property; one that `properties` has with another value is kept in `meta`. */
function othersIn(flat: FlatBody, derived: JsonMap, agent: AgentRegistration | null) {
  const given = flat.take(['properties'], propertiesIn) ?? {}
  const own = flat.take(['meta'], mapIn)
  const rest = flat.rest()
  const unused = Object.fromEntries(Object.entries(rest).filter(([key]) => Object.hasOwn(given, key)))
  const meta = {
    ...own,
    ...(agent !== null && { agent }),
    ...(Object.keys(unused).length > 0 && { unused }),
    'svc.source': 'copilot',
  }
  return { properties: { ...derived, ...rest, ...given }, meta, warnings: slipsIn(rest) }
}

/** Policies read properties: text that only looks like some would hide them. */
function propertiesIn(value: unknown): JsonMap | null {
  const map = mapIn(value)
  if (map !== null || typeof value !== 'string' || !/^\s*\{/.test(value)) return map
  const message = 'is text that is not strict JSON: send an object, without duplicate names and with exact numbers'
  throw invalid([{ path: 'properties', message }])
}

function withoutNulls<T extends Readonly<Record<string, unknown>>>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
}

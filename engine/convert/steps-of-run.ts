// From recorded runs to steps (docs/design/engine.md §9). The same transcript always gives the same steps.
import type { Behavior, JsonMap } from '@svc/schemas'
import { type Answers, answersIn } from './answers.js'
import { readable, shallow } from './exact.js'
import { argumentsOf, type Body, callId, callView, eachShallow, hasText, withUser } from './step-body.js'
import { taskIdOf } from './task-id.js'
import { type Meanings, meaningsBy, type ToolMap } from './tools.js'
import type { Message, ToolCall, Transcript } from './transcript.js'

export interface ImportSettings {
  readonly agent_key: string
  /** The time of the first step of the first line, ms since 1970. */
  readonly start: number
  readonly tools: ToolMap
  /** Every tool in the file; the import declares them for the agent. */
  readonly declared_tools: readonly string[]
}

/** Transcripts have no times: a line gets an hour, a step a second, both in ms. */
export const lineTime = 3_600_000
const stepTime = 1000

/** The recorded run on a line (from 0) as steps numbered from 1, with synthetic times marked as such. */
export function stepsOf(transcript: Transcript, line: number, settings: ImportSettings): Behavior[] {
  const bodies = [
    startOf(transcript, settings),
    ...bodiesOf(transcript, settings.tools),
    { step_type: 'task.end' as const },
  ]
  const task_id = taskIdOf(settings.agent_key, transcript.run_id)
  return bodies.map(({ meta, ...body }, index) => ({
    agent_id: settings.agent_key,
    task_id,
    step: index + 1,
    timestamp: new Date(settings.start + line * lineTime + index * stepTime).toISOString(),
    ...body,
    meta: { ...meta, synthetic_time: true },
  }))
}

/** The start has the agent, for tools that replay the file alone, the instructions, and the metadata of the run. */
function startOf({ run_id, messages, extra }: Transcript, { agent_key, declared_tools }: ImportSettings): Body {
  const instructions = messages.filter(isInstruction)
  const asides = instructions.map(asideOf)
  return {
    step_type: 'task.start',
    ...(instructions.length > 0 && { input: { instructions: instructions.map(contentOf) } }),
    meta: {
      agent: { agent_key, declared_tools },
      run: { run_id, ...eachShallow(extra) },
      ...(asides.some(hasMembers) && { transcript: { instructions: asides } }),
    },
  }
}

function bodiesOf({ messages, model }: Transcript, tools: ToolMap): Body[] {
  const answers = answersIn(messages)
  const meanings = meaningsBy(tools)
  return messages.flatMap((message, index): Body[] => {
    if (isInstruction(message)) return []
    switch (message.role) {
      case 'user':
        return [userTurn(message)]
      case 'assistant':
        return assistantTurn(message, index, model, meanings, answers)
      default:
        return answers.taken(message) ? [] : [unanswered(message, meanings)]
    }
  })
}

function isInstruction({ role }: Message): boolean {
  return role === 'system' || role === 'developer'
}

function userTurn(message: Message): Body {
  const output = { content: contentOf(message) }
  return { step_type: 'step.message', verb: 'GET', output, properties: withUser, ...metaOf(asideOf(message)) }
}

/** One step for the model's turn, one for text to the user, and one for each tool call with its answer. */
function assistantTurn(
  message: Message,
  at: number,
  model: string | null,
  meanings: Meanings,
  answers: Answers,
): Body[] {
  const content = contentOf(message)
  const { tool_calls } = message
  const output = {
    ...(content !== null && { content }),
    ...(tool_calls.length > 0 && { tool_calls: tool_calls.map(callView) }),
  }
  const bodies: Body[] = [
    { step_type: 'step.model', verb: 'POST', step_name: model ?? 'model', output, ...metaOf(asideOf(message)) },
  ]
  if (hasText(content))
    bodies.push({ step_type: 'step.message', verb: 'POST', input: { content }, properties: withUser })
  for (const call of tool_calls) bodies.push(toolStep(call, answers.take(call, at), meanings))
  return bodies
}

function toolStep(call: ToolCall, answer: Message | null, meanings: Meanings): Body {
  const { step_type, verb, properties = {} } = meanings(call.name)
  const { name, ...rest } = answer === null ? {} : asideOf(answer)
  const aside = name === undefined || name === call.name ? rest : { name, ...rest }
  return {
    step_type,
    ...(verb !== undefined && { verb }),
    step_name: call.name,
    input: argumentsOf(call),
    ...(answer !== null && { output: outputOf(answer) }),
    properties: call.id === null ? properties : { ...properties, ...callId(call.id, properties.tool) },
    ...metaOf(aside),
  }
}

function outputOf({ content, error }: Message): JsonMap {
  return { content: readable(content), ...(error !== undefined && { error: shallow(error) }) }
}

/** An answer whose call is in no message of the model; the answer may have the call itself. */
function unanswered(message: Message, meanings: Meanings): Body {
  const { repeated_call } = message
  return repeated_call === undefined ? unexpected(message) : toolStep(repeated_call, message, meanings)
}

/** An answer without a call, or an unknown role: kept as an unknown step. */
function unexpected(message: Message): Body {
  const { role, tool_call_id } = message
  const aside = { role, ...(tool_call_id !== null && { tool_call_id }), ...asideOf(message) }
  return { step_type: 'step.unknown', input: { content: contentOf(message) }, ...metaOf(aside) }
}

function contentOf({ content }: Message): unknown {
  return shallow(content)
}

/** The members of a message besides its content. */
function asideOf({ name, extra }: Message): JsonMap {
  return { ...(name !== null && { name }), ...eachShallow(extra) }
}

function hasMembers(aside: JsonMap): boolean {
  return Object.keys(aside).length > 0
}

function metaOf(aside: JsonMap): Pick<Body, 'meta'> {
  return hasMembers(aside) ? { meta: { transcript: aside } } : {}
}

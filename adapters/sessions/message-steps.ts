// The steps of a session that are no calls of tools: answers of the model, messages, summaries, interruptions.
import { type Body, callView, eachShallow, shallow, withUser } from '@svc/engine/parts'
import type { JsonMap } from '@svc/schemas'
import type { ResultAct } from './act.js'
import { contentOf } from './content.js'
import type { ModelAnswer } from './model-answer.js'
import type { Actor } from './queue.js'

/** A sub-agent is the agent itself with another conversation. */
const withAgent = { counterpart: { kind: 'agent', trust: 'internal' } }

export function modelBody({ model, texts, reasoning, blocks, calls, usage, is_error, context }: ModelAnswer): Body {
  const output = {
    ...(is_error && { status: 'error' }),
    ...(texts.length > 0 && { [is_error ? 'error' : 'content']: texts.join('\n') }),
    ...(reasoning.length > 0 && { reasoning: [...reasoning] }),
    ...(blocks.length > 0 && { blocks: [...blocks] }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, input }) => callView({ id, name, arguments: input })),
    }),
  }
  const cost = usage?.cost_usd ?? null
  const transcript = eachShallow({ ...context, ...(usage !== null && { usage: usage.counts }) })
  return {
    step_type: 'step.model',
    verb: 'POST',
    step_name: model ?? 'model',
    output: eachShallow(output),
    ...(usage !== null && {
      properties: { usage: { total_tokens: usage.total_tokens, ...(cost !== null && { cost_usd: cost }) } },
    }),
    ...(Object.keys(transcript).length > 0 && { meta: { transcript } }),
  }
}

/** A message to or from the user; a sub-agent has the agent that called it in the place of the user. */
export function messageBody(verb: 'GET' | 'POST', content: unknown, { id }: Actor, meta: JsonMap = {}): Body {
  const kept = { content: shallow(contentOf(content)) }
  return {
    step_type: 'step.message',
    verb,
    ...(verb === 'GET' ? { output: kept } : { input: kept }),
    properties: id === null ? withUser : withAgent,
    ...(Object.keys(meta).length > 0 && { meta: { transcript: meta } }),
  }
}

/** The answer of a sub-agent to the call that started it. */
export function agentAnswerBody(step_name: string, { id, content, is_error }: ResultAct): Body {
  return {
    step_type: 'step.message',
    verb: 'GET',
    step_name,
    output: { ...(is_error && { status: 'error' }), content: shallow(contentOf(content)) },
    properties: { ...withAgent, ...(id !== null && { tool: { call_id: id } }) },
  }
}

/** The report of a sub-agent in the background. */
export function noticeBody(content: unknown): Body {
  return {
    step_type: 'step.message',
    verb: 'GET',
    output: { content: shallow(contentOf(content)) },
    properties: withAgent,
  }
}

/** The summary that the agent continues with: what it remembers of its own conversation, and no message of the user. */
export function summaryBody(content: unknown): Body {
  return {
    step_type: 'step.self',
    verb: 'POST',
    step_name: 'compact',
    input: { content: shallow(contentOf(content)) },
  }
}

export function stoppedBody(): Body {
  return { step_type: 'task.idle', output: { status: 'interrupted' } }
}

/** A result whose call is not in the transcript. */
export function unexpectedBody({ id, name, content }: ResultAct): Body {
  return {
    step_type: 'step.unknown',
    ...(name !== null && { step_name: name }),
    output: { content: shallow(contentOf(content)) },
    ...(id !== null && { properties: { tool: { call_id: id } } }),
  }
}

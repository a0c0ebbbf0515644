// The acts of a model, a tool, a sub-agent and the other operations, as steps.
import type { JsonMap } from '@svc/schemas'
import { readable } from '../exact.js'
import { argumentsOf, type Body, callView } from '../step-body.js'
import type { Meanings } from '../tools.js'
import { callIdOf, toolBody } from './calls.js'
import { argumentNames, contentNames, resultNames } from './conventions.js'
import { errorView, evidenceOf } from './evidence.js'
import { inputOf, outputOf, type SpanMessage } from './messages.js'
import { agentNameOf, modelOf, nameIn, toolNameOf, usageOf } from './operation.js'
import type { Span } from './span.js'

/** The call of a model; `answers` is its output. */
export function modelBody(span: Span, answers: readonly SpanMessage[]): Body {
  const { attributes, error } = span
  const input = inputOf(span)
  const content = answers.map((message) => message.content).filter((each) => each !== null)
  const tool_calls = answers.flatMap((message) => message.tool_calls)
  const blocks = answers.flatMap((message) => message.blocks)
  const usage = usageOf(attributes)
  const output = {
    ...(content.length > 0 && { content: content.length === 1 ? content[0] : content }),
    ...(blocks.length > 0 && { blocks }),
    ...(tool_calls.length > 0 && { tool_calls: tool_calls.map(callView) }),
    ...(error !== null && errorView(error)),
  }
  return {
    step_type: 'step.model',
    verb: 'POST',
    step_name: modelOf(attributes) ?? 'model',
    ...(input.length > 0 && { input: { messages: input.map(messageView) } }),
    ...(Object.keys(output).length > 0 && { output }),
    ...(Object.keys(usage).length > 0 && { properties: { usage } }),
    meta: { otel: evidenceOf(span, contentNames) },
  }
}

function messageView({ role, content, blocks, tool_calls, answers }: SpanMessage): JsonMap {
  return {
    role,
    ...(content !== null && { content }),
    ...(blocks.length > 0 && { blocks }),
    ...(tool_calls.length > 0 && { tool_calls: tool_calls.map(callView) }),
    ...(answers.length > 0 && { answers: answers.map(({ id, result }) => ({ id, result: readable(result) })) }),
  }
}

const toolContentNames: ReadonlySet<string> = new Set([...argumentNames, ...resultNames])

/** The call of a tool. */
export function toolSpanBody(span: Span, meanings: Meanings): Body {
  const { error } = span
  const id = callIdOf(span)
  const given = firstIn(span, argumentNames) ?? inputOf(span)[0]?.answers[0]?.result
  const result = firstIn(span, resultNames) ?? outputOf(span)[0]?.content ?? undefined
  const output = {
    ...(result !== undefined && { content: readable(result) }),
    ...(error !== null && errorView(error)),
  }
  const { input, ...body } = toolBody({ id, name: toolNameOf(span), arguments: given ?? null }, undefined, meanings)
  return {
    ...body,
    // Without content it is unknown whether the call had arguments.
    ...(given !== undefined && { input }),
    ...(Object.keys(output).length > 0 && { output }),
    meta: { otel: evidenceOf(span, toolContentNames) },
  }
}

function firstIn({ attributes }: Span, names: readonly string[]): unknown {
  const name = names.find((each) => attributes.has(each))
  return name === undefined ? undefined : attributes.get(name)
}

/** The message that starts a sub-agent. */
export function delegation(span: Span): Body {
  const { name, id } = agentNameOf(span)
  const [input, output] = [inputOf(span), outputOf(span)].map((messages) => messages.map(messageView))
  const answered = {
    ...(output !== undefined && output.length > 0 && { messages: output }),
    ...(span.error !== null && errorView(span.error)),
  }
  return {
    step_type: 'step.message',
    verb: 'POST',
    step_name: name ?? id ?? 'invoke_agent',
    ...(input !== undefined && input.length > 0 && { input: { messages: input } }),
    ...(Object.keys(answered).length > 0 && { output: answered }),
    properties: { counterpart: { kind: 'agent' } },
    meta: { otel: evidenceOf(span, contentNames) },
  }
}

const otherContentNames: ReadonlySet<string> = new Set(['gen_ai.retrieval.query.text', 'gen_ai.retrieval.documents'])

/** An operation that settles the type of its step. */
export function otherBody(span: Span, { step_type, verb }: Pick<Body, 'step_type' | 'verb'>): Body {
  const { attributes, error, name } = span
  const [query, documents] = [...otherContentNames].map((each) => attributes.get(each))
  const output = {
    ...(documents !== undefined && { documents: readable(documents) }),
    ...(error !== null && errorView(error)),
  }
  const operation = nameIn(attributes, 'gen_ai.operation.name') ?? name
  return {
    step_type,
    ...(verb !== undefined && { verb }),
    step_name:
      nameIn(attributes, 'gen_ai.data_source.id', 'gen_ai.memory.store.name', 'gen_ai.agent.name') ?? operation,
    ...(query !== undefined && { input: argumentsOf({ id: null, name, arguments: { query } }) }),
    ...(Object.keys(output).length > 0 && { output }),
    meta: { otel: evidenceOf(span, otherContentNames) },
  }
}

// The steps of each span of a task: what the model, the tools and the sub-agents did, and what the user wrote and read.
import type { JsonMap } from '@svc/schemas'
import { readable } from '../exact.js'
import { argumentsOf, type Body, callView, hasText } from '../step-body.js'
import type { Meanings } from '../tools.js'
import { type CalledTool, createCalls, toolBody } from './calls.js'
import { errorView, evidenceOf, idsOf } from './evidence.js'
import { contentNames, inputOf, outputOf, type SpanMessage } from './messages.js'
import { agentNameOf, modelOf, nameIn, operationOf, toolNameOf, usageOf } from './operation.js'
import type { Span } from './span.js'
import type { SpanTree, Subagent } from './tree.js'

export interface TimedBody {
  /** ns since 1970. */
  readonly time: bigint
  /** The span that the step stands for; null for a step that follows from the content of a span. */
  readonly span: Span | null
  /** The sub-agent that acted; null for the agent of the task. */
  readonly subagent: Subagent | null
  readonly body: Body
}

export interface Bodies {
  /** The steps of a span; the spans come in the order of the tree. */
  readonly of: (span: Span) => TimedBody[]
  /** The steps that all spans together show: calls without a span, and the last answer of the agent. */
  readonly rest: () => TimedBody[]
}

export function createBodies(tree: SpanTree, meanings: Meanings): Bodies {
  const received = createSeen()
  const sent = createSeen()
  const calls = createCalls()

  const derived = (span: Span, time: bigint, subagent: Subagent | null, body: Body): TimedBody => ({
    time,
    span: null,
    subagent,
    body: { ...body, meta: { otel: idsOf(span) } },
  })
  const messagesIn = (span: Span, subagent: Subagent | null): TimedBody[] => {
    const texts = inputOf(span).filter(({ role, content }) => role === 'user' && content !== null)
    const fresh = received.freshOf(
      subagent,
      texts.map(({ content }) => content),
    )
    return fresh.map((content) => derived(span, span.start, subagent, receipt(content, subagent)))
  }
  const messagesOut = (span: Span, subagent: Subagent | null, output: readonly SpanMessage[]): TimedBody[] =>
    sent
      .freshOf(subagent, output.map(({ content }) => content).filter(hasText))
      .map((content) => derived(span, span.end ?? span.start, subagent, dispatch(content, subagent)))

  const ofModel = (span: Span): TimedBody[] => {
    const subagent = tree.subagentOf(span)
    const output = outputOf(span)
    calls.add(span, subagent, inputOf(span), output)
    const body = { ...modelBody(span, output), meta: { otel: evidenceOf(span, contentNames) } }
    const step = { time: span.start, span, subagent, body }
    // An answer that is the same as an earlier one is a message of its own.
    sent.forget(subagent)
    return [...messagesIn(span, subagent), step, ...messagesOut(span, subagent, output)]
  }
  const ofTool = (span: Span): TimedBody[] => {
    calls.addSpan(span)
    return [{ time: span.start, span, subagent: tree.subagentOf(span), body: toolSpanBody(span, meanings) }]
  }
  const ofAgent = (span: Span): TimedBody[] => {
    if (tree.isMain(span)) return messagesIn(span, null)
    const isFirst = tree.subagentOf(span)?.span === span
    if (!isFirst || tree.spawnOf(span) !== span) return []
    return [{ time: span.start, span, subagent: tree.callerOf(span), body: delegation(span) }]
  }

  return {
    of: (span) => {
      const operation = operationOf(span)
      switch (operation?.kind) {
        case 'model':
          return ofModel(span)
        case 'tool':
          return ofTool(span)
        case 'agent':
          return ofAgent(span)
        case 'step':
          return [{ time: span.start, span, subagent: tree.subagentOf(span), body: otherBody(span, operation) }]
        default:
          return []
      }
    },
    rest: () => [
      ...calls
        .withoutSpan()
        .map(({ span, subagent, call, answer }: CalledTool) =>
          derived(span, span.end ?? span.start, subagent, toolBody(call, answer, meanings)),
        ),
      ...tree.spans.filter(tree.isMain).flatMap((span) => messagesOut(span, null, outputOf(span))),
    ],
  }
}

/** Messages of the user are written by the user only to the agent of the task; a sub-agent gets them of its caller. */
function counterpartOf(subagent: Subagent | null): JsonMap {
  return { counterpart: { kind: subagent === null ? 'user' : 'agent' } }
}

function receipt(content: unknown, subagent: Subagent | null): Body {
  return { step_type: 'step.message', verb: 'GET', output: { content }, properties: counterpartOf(subagent) }
}

function dispatch(content: unknown, subagent: Subagent | null): Body {
  return { step_type: 'step.message', verb: 'POST', input: { content }, properties: counterpartOf(subagent) }
}

function modelBody(span: Span, answers: readonly SpanMessage[]): Body {
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

const argumentNames = ['gen_ai.tool.call.arguments', 'ai.toolCall.args', 'traceloop.entity.input', 'input.value']
const resultNames = ['gen_ai.tool.call.result', 'ai.toolCall.result', 'traceloop.entity.output', 'output.value']
const toolContentNames: ReadonlySet<string> = new Set([...argumentNames, ...resultNames])

function toolSpanBody(span: Span, meanings: Meanings): Body {
  const { attributes, error } = span
  const id = nameIn(attributes, 'gen_ai.tool.call.id', 'ai.toolCall.id')
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
function delegation(span: Span): Body {
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

function otherBody(span: Span, { step_type, verb }: Pick<Body, 'step_type' | 'verb'>): Body {
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

/** Contents that were given before: a model gets the whole conversation again at each call. */
function createSeen() {
  const seen = new Map<Subagent | null, Map<string, number>>()
  return {
    /** The contents that are there more often than in any list before. */
    freshOf: (subagent: Subagent | null, contents: readonly unknown[]): unknown[] => {
      const before = seen.get(subagent) ?? new Map<string, number>()
      seen.set(subagent, before)
      const now = new Map<string, number>()
      return contents.filter((content) => {
        const key = JSON.stringify(content)
        const count = (now.get(key) ?? 0) + 1
        now.set(key, count)
        if (count <= (before.get(key) ?? 0)) return false
        before.set(key, count)
        return true
      })
    },
    forget: (subagent: Subagent | null): void => {
      seen.delete(subagent)
    },
  }
}

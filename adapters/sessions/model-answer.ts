// One answer of a model, put together of its parts.
import type { JsonMap } from '@svc/schemas'
import type { CallAct, ModelPart, Usage } from './act.js'

export interface ModelAnswer {
  readonly id: string | null
  model: string | null
  readonly texts: string[]
  readonly reasoning: string[]
  readonly blocks: unknown[]
  readonly calls: CallAct[]
  usage: Usage | null
  is_last: boolean
  is_error: boolean
  context: JsonMap
  readonly add: (part: ModelPart) => void
}

export function newAnswer(id: string | null): ModelAnswer {
  const answer: ModelAnswer = {
    id,
    model: null,
    texts: [],
    reasoning: [],
    blocks: [],
    calls: [],
    usage: null,
    is_last: false,
    is_error: false,
    context: {},
    add: (part) => {
      answer.model ??= part.model
      answer.texts.push(...part.texts)
      answer.reasoning.push(...part.reasoning)
      answer.blocks.push(...part.blocks)
      answer.is_last ||= part.is_last
      answer.is_error ||= part.is_error
      answer.context = { ...answer.context, ...part.context }
      // Each part repeats the usage, and the first ones before the answer is complete.
      if (part.usage !== null && part.usage.total_tokens >= (answer.usage?.total_tokens ?? 0)) answer.usage = part.usage
    },
  }
  return answer
}

// The items of one answer of a model: Codex writes each on a line, without an id of the answer.
import { present } from '@svc/engine/parts'
import type { JsonMap } from '@svc/schemas'
import type { ModelPart } from './act.js'
import { nameOf } from './content.js'

export interface CodexAnswers {
  /** The part of an item: the items up to a result, a message of the user or the tokens are one answer. */
  readonly part: (own: Partial<ModelPart>) => ModelPart
  /** The next item belongs to another answer. */
  readonly end: () => void
  /** The model and the permissions of the turn that begins. */
  readonly setTurn: (turn: JsonMap) => void
}

const none = { texts: [], reasoning: [], blocks: [], usage: null, is_last: false, is_error: false, context: {} }

export function createCodexAnswers(): CodexAnswers {
  let model: string | null = null
  let count = 0
  let is_open = false
  /** Permissions that no answer has stated yet. */
  let context: JsonMap = {}
  let stated = ''
  return {
    part: (own) => {
      if (is_open) return { kind: 'part', id: String(count), model, ...none, ...own }
      count += 1
      is_open = true
      const first: ModelPart = { kind: 'part', id: String(count), model, ...none, ...own, context }
      context = {}
      return first
    },
    end: () => {
      is_open = false
    },
    setTurn: (turn) => {
      if (typeof turn.model === 'string') model = nameOf(turn.model)
      const given = present({ approval_policy: turn.approval_policy, sandbox_policy: turn.sandbox_policy })
      const text = JSON.stringify(given)
      if (text !== stated) context = given
      stated = text
    },
  }
}

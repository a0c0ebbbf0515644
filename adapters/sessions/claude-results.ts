// Results of tools in the lines of Claude Code, and how a refused call is told apart from one that failed.

import { idOf } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import type { Refusal, ResultAct } from './act.js'
import { contentOf } from './content.js'

/** The result of a block; `line` has the same result in a form for programs. */
export function resultOf({ tool_use_id, content, is_error }: JsonMap, line: JsonMap): ResultAct {
  const { toolUseResult } = line
  const failed = is_error === true
  const is_certain = toolUseResult === 'User rejected tool use'
  return {
    kind: 'result',
    id: idOf(tool_use_id),
    content: content ?? null,
    is_error: failed,
    refusal: !failed ? null : is_certain ? 'person' : refusalIn(contentOf(content), toolUseResult),
    is_certain,
    exit_code: null,
    launched: isMap(toolUseResult) && toolUseResult.status === 'async_launched' ? idOf(toolUseResult.agentId) : null,
    name: null,
  }
}

const byPerson =
  /^(?:The user doesn't want to (?:proceed with this tool use|take this action right now)|\[Request interrupted by user for tool use\])/
const byRule =
  /^(?:Permission (?:to use .{1,500}? has been denied|for this tool use was denied)|Claude requested permissions to (?:use|read|write|edit) .{1,500}, but you haven't granted it yet)/

/** The refusal that the words of a result show; `record` is the same result as the program recorded it, in most lines. */
function refusalIn(content: unknown, record: unknown): Refusal | null {
  if (typeof content !== 'string') return null
  if (record === undefined && byPerson.test(content)) return 'person'
  const isSame = record === undefined || record === content || record === `Error: ${content}`
  return isSame && byRule.test(content) ? 'rule' : null
}

// The events of Codex: what the user wrote, the tokens, and the end of each command and turn. Most of them repeat items.

import { idOf } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import { type Act, otherLine, type ResultAct, type Usage } from './act.js'
import type { CodexItems } from './codex-items.js'
import type { ItemReading } from './codex-user.js'
import { nameOf, textOf } from './content.js'

/** Events that repeat items, or state nothing that was done. */
const repeated: ReadonlySet<string> = new Set(
  `agent_message agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break background_event
  collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin collab_agent_interaction_end
  collab_close_begin collab_close_end collab_waiting_begin collab_waiting_end context_compacted deprecation_notice
  entered_review_mode error exec_approval_request exec_command_begin exec_command_output_delta exited_review_mode
  apply_patch_approval_request item_completed item_started mcp_tool_call_begin mcp_tool_call_end patch_apply_begin
  patch_apply_end plan_update stream_error task_started thread_goal_updated thread_name_updated thread_rolled_back turn_diff
  turn_started undo_completed view_image_tool_call warning web_search_begin web_search_end`.split(/\s+/),
)

export function createCodexEvents(items: CodexItems) {
  let last_total: number | null = null

  const usage = ({ info }: JsonMap): Act[] => {
    if (!isMap(info)) return []
    const total = tokensIn(info.total_token_usage)
    // The same totals are reported again when only a limit has changed.
    if (total !== null && total === last_total) return []
    const before = last_total ?? 0
    last_total = total ?? last_total
    const own = tokensIn(info.last_token_usage) ?? (total === null ? null : Math.max(0, total - before))
    if (own === null) return []
    const counts = isMap(info.last_token_usage) ? info.last_token_usage : info.total_token_usage
    items.answers.end()
    const usage: Usage = { total_tokens: own, cost_usd: null, counts: isMap(counts) ? counts : {} }
    return [{ kind: 'usage', usage }]
  }

  return {
    read: (event: JsonMap): ItemReading => {
      const type = nameOf(event.type)
      switch (type) {
        case 'user_message':
          items.answers.end()
          return items.messages.event(textOf(event.message))
        case 'token_count':
          return { acts: usage(event), others: [] }
        case 'task_complete':
        case 'turn_complete':
          return withLine(items.after({ kind: 'settled', calls: true }), `event ${type}`)
        case 'turn_aborted':
          return items.after({ kind: 'stopped' })
        case 'exec_command_end':
          return commandEnd(event, items)
        default:
          return { acts: [], others: [otherLine(`event ${type}`, repeated.has(type))] }
      }
    },
  }
}

function withLine({ acts, others }: ItemReading, name: string): ItemReading {
  return { acts, others: [...others, otherLine(name, true)] }
}

function tokensIn(usage: unknown): number | null {
  if (!isMap(usage)) return null
  const { total_tokens, input_tokens, output_tokens } = usage
  const total = total_tokens ?? Number(input_tokens ?? 0) + Number(output_tokens ?? 0)
  return typeof total === 'number' && Number.isFinite(total) && total >= 0 ? total : null
}

/** A command that the code of the agent ran has no call of its own: its end is all that shows it. */
function commandEnd(event: JsonMap, items: CodexItems): ItemReading {
  const { call_id, command, source, exit_code, aggregated_output, status } = event
  const id = idOf(call_id)
  const other = otherLine('event exec_command_end', true)
  if (id === null || items.hasCall(id) || source === 'user_shell' || command === undefined)
    return { acts: [], others: [other] }
  const code = typeof exit_code === 'number' ? exit_code : null
  const result: ResultAct = {
    kind: 'result',
    id,
    content: aggregated_output ?? null,
    is_error: status === 'failed' || (code !== null && code !== 0),
    refusal: status === 'declined' ? 'person' : null,
    is_certain: true,
    exit_code: code,
    launched: null,
    name: null,
  }
  return { acts: [{ kind: 'call', id, name: 'exec_command', input: { command } }, result], others: [] }
}

// Transcripts of coding agents in the short form of the cases, as the lines that the agents write.
import type { JsonMap } from '@svc/schemas'

/** The session of the lines, if they name no other one. */
export const sessionId = '6f1d2c3a-0000-4000-8000-000000000001'
/** ms since 1970 of the first line; each line is one second later. */
export const sessionsBegin = Date.UTC(2026, 2, 2, 9)

const timeOf = (index: number) => new Date(sessionsBegin + index * 1000).toISOString()

/**
 * A line of Claude Code: `user` has the content of a message of the user, `results` the contents of results by the id of
 * their call, `assistant` the blocks of an answer of a model, `call` one call of a tool as [id, name, input]; other members
 * are those of the line, or with `raw` the line as it is.
 */
export function claudeLine(short: JsonMap, index: number): JsonMap {
  const { user, results, assistant, call, id, usage, stop, model, failed, raw, ...others } = short
  if (raw !== undefined) return raw as JsonMap
  const line = {
    parentUuid: index === 0 ? null : `u${index - 1}`,
    isSidechain: false,
    userType: 'external',
    cwd: '/home/mia/shop',
    sessionId,
    version: '2.1.12',
    gitBranch: 'main',
    uuid: `u${index}`,
    timestamp: timeOf(index),
  }
  const blocks = call === undefined ? assistant : [callBlock(call as [string, string, JsonMap])]
  if (blocks !== undefined) {
    const message = {
      id: id ?? `m${index}`,
      role: 'assistant',
      model: model ?? 'model-1',
      content: typeof blocks === 'string' ? [{ type: 'text', text: blocks }] : blocks,
      stop_reason: stop ?? null,
      ...(usage !== undefined && { usage }),
    }
    return { ...line, type: 'assistant', message, ...others }
  }
  if (results !== undefined) {
    const content = Object.entries(results as JsonMap).map(([tool_use_id, result]) => ({
      type: 'tool_result',
      tool_use_id,
      content: result,
      ...(failed === true && { is_error: true }),
    }))
    return { ...line, type: 'user', message: { role: 'user', content }, ...others }
  }
  return { ...line, ...(user !== undefined && { type: 'user', message: { role: 'user', content: user } }), ...others }
}

function callBlock([id, name, input]: readonly [string, string, JsonMap]): JsonMap {
  return { type: 'tool_use', id, name, input }
}

/**
 * A line of Codex: `meta` has the start of the session, `turn` the context of a turn, `item` an item of the conversation,
 * `event` an event, `call` a call as [id, name, arguments], `output` the output of a call as [id, output], `says` a text of the
 * model, `asks` a message of the role user; `raw` is the line as it is.
 */
export function codexLine(short: JsonMap, index: number): JsonMap {
  const { meta, turn, item, event, call, output, says, asks, raw } = short
  const line = (type: string, payload: unknown) => ({ timestamp: timeOf(index), type, payload })
  if (raw !== undefined) return raw as JsonMap
  if (meta !== undefined)
    return line('session_meta', {
      id: sessionId,
      timestamp: timeOf(index),
      cwd: '/home/mia/shop',
      ...(meta as JsonMap),
    })
  if (turn !== undefined) return line('turn_context', turn)
  if (event !== undefined) return line('event_msg', event)
  return line('response_item', item ?? itemOf({ call, output, says, asks }))
}

function itemOf({ call, output, says, asks }: JsonMap): JsonMap {
  if (Array.isArray(call)) {
    const [call_id, name, given] = call as [string, string, unknown]
    return { type: 'function_call', call_id, name, arguments: JSON.stringify(given) }
  }
  if (Array.isArray(output)) {
    const [call_id, given] = output as [string, unknown]
    return { type: 'function_call_output', call_id, output: given }
  }
  return says === undefined
    ? { type: 'message', role: 'user', content: [{ type: 'input_text', text: asks }] }
    : { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: says }] }
}

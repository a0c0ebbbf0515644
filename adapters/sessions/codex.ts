// The lines of Codex (`~/.codex/sessions/…/rollout-*.jsonl`), with the items in `payload` or, in older files, as the line
// itself. Facts about the format: docs/design/engine.md §10.

import { idOf } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import { type JsonMap, parseTimestamp } from '@svc/schemas'
import { type LineReader, otherLine, type SessionFacts, type SessionLine } from './act.js'
import { createCodexEvents } from './codex-events.js'
import { createCodexItems, isItem } from './codex-items.js'

const wrappers: ReadonlySet<unknown> = new Set([
  'session_meta',
  'turn_context',
  'response_item',
  'event_msg',
  'compacted',
])

/** True for a value that is a line of Codex. */
export function isCodexLine(value: unknown): boolean {
  if (!isMap(value)) return false
  if (wrappers.has(value.type)) return isMap(value.payload)
  return isItem(value) || isOlderStart(value) || value.record_type === 'state'
}

/** The first line of older files has no type. */
function isOlderStart({ type, id, timestamp, messages, traceId, spanId }: JsonMap): boolean {
  const isOther = type !== undefined || messages !== undefined || traceId !== undefined || spanId !== undefined
  return !isOther && typeof id === 'string' && typeof timestamp === 'string'
}

interface CodexSession {
  readonly id: string
  /** Sessions whose lines may be repeated at its beginning. */
  readonly parents: readonly string[]
  readonly is_fork: boolean
}

/** The session that a line begins; null for another line. */
export function codexSessionOf(value: JsonMap): CodexSession | null {
  const meta = metaOf(value)
  const id = meta === null ? null : idOf(meta.id)
  if (meta === null || id === null) return null
  const forked_from = idOf(meta.forked_from_id)
  const parent = idOf(spawnOf(meta)?.parent_thread_id ?? meta.parent_thread_id)
  return { id, parents: [forked_from, parent].filter((each) => each !== null), is_fork: forked_from !== null }
}

function metaOf(value: JsonMap): JsonMap | null {
  if (value.type === 'session_meta' && isMap(value.payload)) return value.payload
  return isOlderStart(value) ? value : null
}

/** Reads the lines of one session, in their order. */
export function createCodexReader(): LineReader {
  const items = createCodexItems()
  const events = createCodexEvents(items)
  /** The session is that of a sub-agent. */
  let subagent: Subagent | null = null

  const readingOf = (type: unknown, payload: JsonMap): Pick<SessionLine, 'acts' | 'others'> => {
    switch (type) {
      case 'response_item':
        return items.read(payload)
      case 'event_msg':
        return events.read(payload)
      case 'compacted':
        return items.after({ kind: 'summary', content: payload.message ?? null })
      case 'turn_context':
        items.answers.setTurn(payload)
        return { acts: [], others: [otherLine('turn_context', true)] }
      case 'session_meta':
        return { acts: [], others: [] }
      default:
        return { acts: [], others: [otherLine(typeof type === 'string' ? type : 'without a type', type === 'state')] }
    }
  }
  const read = (value: JsonMap): SessionLine => {
    const { type, payload } = wrapped(value)
    const meta = metaOf(value)
    if (meta !== null) subagent ??= subagentOf(meta)
    const given = value.timestamp ?? (type === 'session_meta' ? payload.timestamp : undefined)
    const time = typeof given === 'string' ? parseTimestamp(given) : null
    items.setTime(time)
    return {
      time,
      thread: subagent?.id ?? null,
      depth: subagent?.depth ?? null,
      id: null,
      facts: meta === null ? contextFacts(type, payload) : factsOf(meta),
      ...readingOf(type, payload),
    }
  }
  return { read, rest: () => items.messages.release().acts }
}

/** An older line as if it had a payload. */
function wrapped(value: JsonMap): { readonly type: unknown; readonly payload: JsonMap } {
  if (isMap(value.payload)) return { type: value.type, payload: value.payload }
  if (isItem(value)) return { type: 'response_item', payload: value }
  if (value.record_type === 'state') return { type: 'state', payload: value }
  return { type: metaOf(value) === null ? value.type : 'session_meta', payload: value }
}

interface Subagent {
  readonly id: string
  readonly depth: number
}

/** The known facts about the start of a sub-agent; null for the session of a user. */
function spawnOf({ source, parent_thread_id }: JsonMap): JsonMap | null {
  const started = isMap(source) ? source.subagent : undefined
  if (started === undefined && typeof parent_thread_id !== 'string') return null
  return isMap(started) && isMap(started.thread_spawn) ? started.thread_spawn : {}
}

function subagentOf(meta: JsonMap): Subagent | null {
  const spawn = spawnOf(meta)
  if (spawn === null) return null
  const { depth } = spawn
  return {
    id: idOf(spawn.agent_nickname ?? meta.agent_nickname) ?? idOf(meta.id) ?? 'sub-agent',
    depth: typeof depth === 'number' && Number.isSafeInteger(depth) && depth > 0 ? depth : 1,
  }
}

function factsOf({ cwd, git, cli_version, originator, instructions }: JsonMap): SessionFacts {
  const branch = isMap(git) ? git.branch : undefined
  return {
    ...contextFacts('turn_context', { cwd }),
    ...(typeof branch === 'string' && { git_branch: branch }),
    ...(typeof cli_version === 'string' && { version: cli_version }),
    ...(typeof originator === 'string' && { entrypoint: originator }),
    ...(typeof instructions === 'string' && instructions !== '' && { instructions: [instructions] }),
  }
}

function contextFacts(type: unknown, { cwd }: JsonMap): SessionFacts {
  return type === 'turn_context' && typeof cwd === 'string' && cwd !== '' ? { cwd } : {}
}

// The lines of Claude Code (`~/.claude/projects/<folder>/<session>.jsonl`). Facts about the format: docs/design/engine.md §10.

import { idOf } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import { type JsonMap, parseTimestamp } from '@svc/schemas'
import {
  type Act,
  type LineReader,
  type ModelPart,
  type OtherLine,
  otherLine,
  type SessionFacts,
  type SessionLine,
  type Usage,
} from './act.js'
import { resultOf } from './claude-results.js'
import { queuedMessage, userActs } from './claude-user.js'
import { blockOf, blocksOf, nameOf, textOfBlock } from './content.js'

/** Kinds of lines that state nothing that was done. */
const bookkeeping: ReadonlySet<string> = new Set(
  `agent-name agent-setting ai-title attachment attribution-snapshot cost-state custom-title file-history-snapshot
  last-prompt mode permission-mode pr-link progress queue-operation summary system tag worktree-state`.split(/\s+/),
)
const withMessages: ReadonlySet<unknown> = new Set(['user', 'assistant'])

/** True for a value that is a line of Claude Code. */
export function isClaudeLine(value: unknown): boolean {
  if (!isMap(value) || typeof value.type !== 'string') return false
  if (withMessages.has(value.type) && isMap(value.message)) return true
  return bookkeeping.has(value.type) && (idOf(value.sessionId) !== null || isTitle(value))
}

/** Lines about a session may be without its id. */
function isTitle({ leafUuid, messageId, snapshot }: JsonMap): boolean {
  return leafUuid !== undefined || messageId !== undefined || snapshot !== undefined
}

/** The session of a line; null for a line that names none. */
export function claudeSessionOf(value: JsonMap): string | null {
  return idOf(value.sessionId ?? value.session_id)
}

/** The sub-agent of a line; null for the agent of the session. Older lines name none: see `createSidechains`. */
export function agentOf({ isSidechain, agentId }: JsonMap): string | null {
  return isSidechain === true ? idOf(agentId) : null
}

/** Reads the lines of one session, in their order. */
export function createClaudeReader(): LineReader {
  const sidechains = createSidechains()
  const read = (value: JsonMap): SessionLine => {
    const thread = value.isSidechain === true ? (agentOf(value) ?? sidechains.threadOf(value)) : null
    const { acts, others } = readingOf(value)
    return {
      time: typeof value.timestamp === 'string' ? parseTimestamp(value.timestamp) : null,
      thread,
      depth: null,
      id: idOf(value.uuid),
      facts: factsOf(value),
      acts,
      others,
    }
  }
  return { read, rest: () => [] }
}

interface Reading {
  readonly acts: readonly Act[]
  readonly others: readonly OtherLine[]
}

function readingOf(value: JsonMap): Reading {
  const type = nameOf(value.type)
  if (type === 'assistant' && isMap(value.message)) return assistantReading(value, value.message)
  if (type === 'user' && isMap(value.message)) return userActs(value, value.message)
  if (type === 'system') return { acts: systemActs(value), others: [otherLine(kindOf(type, value.subtype), true)] }
  if (type === 'attachment') return attachmentReading(value)
  return { acts: [], others: [otherLine(type, bookkeeping.has(type))] }
}

function kindOf(type: string, kind: unknown): string {
  return typeof kind === 'string' ? `${type} ${kind}` : type
}

/** A line of the system comes after the answer of the model. */
function systemActs({ subtype }: JsonMap): Act[] {
  return subtype === 'turn_duration' || subtype === 'stop_hook_summary' || subtype === 'compact_boundary'
    ? [{ kind: 'settled', calls: false }]
    : []
}

function attachmentReading({ attachment }: JsonMap): Reading {
  const kind = isMap(attachment) ? attachment.type : undefined
  const message = isMap(attachment) ? queuedMessage(attachment) : null
  if (message !== null) return { acts: [message], others: [] }
  return { acts: [], others: [otherLine(kindOf('attachment', kind), true)] }
}

function assistantReading(value: JsonMap, message: JsonMap): Reading {
  const is_error = value.isApiErrorMessage === true
  // Text that the program wrote in the place of a model.
  if (message.model === '<synthetic>' && !is_error)
    return { acts: [], others: [otherLine('assistant synthetic', true)] }
  const blocks = blocksOf(message.content)
  const part: ModelPart = {
    kind: 'part',
    id: idOf(message.id) ?? idOf(value.uuid),
    model: typeof message.model === 'string' && message.model !== '<synthetic>' ? nameOf(message.model) : null,
    texts: blocks.flatMap((block) => textOfBlock(block) ?? []),
    reasoning: blocks.flatMap((block) =>
      block.type === 'thinking' && typeof block.thinking === 'string' ? [block.thinking] : [],
    ),
    blocks: blocks.filter((block) => textOfBlock(block) === null && !isReadElsewhere(block.type)).map(blockOf),
    usage: is_error ? null : usageOf(message.usage, value.costUSD),
    is_last: typeof message.stop_reason === 'string',
    is_error,
    context: {},
  }
  const calls = blocks.flatMap((block): Act[] => {
    if (isCall(block.type))
      return [{ kind: 'call', id: idOf(block.id), name: nameOf(block.name), input: block.input ?? null }]
    return isResult(block.type) ? [resultOf(block, value)] : []
  })
  const ends: Act[] = is_error ? [{ kind: 'settled', calls: false }] : []
  return { acts: [part, ...calls, ...ends], others: [] }
}

const isCall = (type: unknown) => type === 'tool_use' || type === 'server_tool_use'
const isResult = (type: unknown) => typeof type === 'string' && type.endsWith('tool_result')

/** Reasoning that is encrypted says nothing. */
function isReadElsewhere(type: unknown): boolean {
  return type === 'thinking' || type === 'redacted_thinking' || isCall(type) || isResult(type)
}

const tokenCounts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'] as const

function usageOf(usage: unknown, cost: unknown): Usage | null {
  if (!isMap(usage)) return null
  const counts = tokenCounts.flatMap((name) => (isCount(usage[name]) ? [[name, usage[name]] as const] : []))
  if (counts.length === 0) return null
  const total_tokens = counts.reduce((sum, [, count]) => sum + count, 0)
  return { total_tokens, cost_usd: isCount(cost) ? cost : null, counts: Object.fromEntries(counts) }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function factsOf({ cwd, gitBranch, version, entrypoint }: JsonMap): SessionFacts {
  const text = (value: unknown) => typeof value === 'string' && value !== ''
  return {
    ...(text(cwd) && { cwd: cwd as string }),
    ...(text(gitBranch) && { git_branch: gitBranch as string }),
    ...(text(version) && { version: version as string }),
    ...(text(entrypoint) && { entrypoint: entrypoint as string }),
  }
}

/** Lines of sub-agents in memory, to find the sub-agent of those that follow. */
const maxKnown = 10_000

/** Older versions name no sub-agent: a line belongs to that of its parent, and one without a parent begins another. */
function createSidechains() {
  const threads = new Map<string, string>()
  return {
    threadOf: ({ uuid, parentUuid }: JsonMap): string => {
      const id = idOf(uuid) ?? 'sidechain'
      const thread = threads.get(idOf(parentUuid) ?? '') ?? id
      threads.set(id, thread)
      const [oldest] = threads.keys()
      if (threads.size > maxKnown && oldest !== undefined) threads.delete(oldest)
      return thread
    },
  }
}

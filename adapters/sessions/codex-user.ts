// Messages of the role user in Codex: the user's own, and what the program put in. An event repeats each message that the user
// wrote, before or after the message.
import type { Act, OtherLine, ReceivedAct, SessionLine } from './act.js'
import { otherLine } from './act.js'
import { contentOf } from './content.js'

export type ItemReading = Pick<SessionLine, 'acts' | 'others'>

export interface UserMessages {
  /** A message of the role user: kept until an event, or the answer of the model, shows whose it is. */
  readonly hold: (content: unknown, time: number | null) => ItemReading
  /** The event about a message of the user. */
  readonly event: (text: string) => ItemReading
  /** The model answers: in a session without such events, the messages are the user's. */
  readonly release: () => ItemReading
}

export function createUserMessages(): UserMessages {
  let pending: Pick<ReceivedAct, 'content' | 'time'>[] = []
  /** The text of an event whose message has not come yet. */
  let awaited: string | null = null
  let has_events = false
  const take = () => {
    const taken = pending
    pending = []
    return taken
  }
  return {
    hold: (content, time) => {
      const sign = injectionIn(contentOf(content))
      if (sign !== null) return { acts: [], others: [otherLine(`message ${sign}`, true)] }
      if (awaited !== null && comparable(content) === awaited) awaited = null
      else pending.push({ content, time })
      return { acts: [], others: [] }
    },
    event: (text) => {
      has_events = true
      const held = take()
      const own = held.find(({ content }) => comparable(content) === text.trim())
      awaited = own === undefined ? text.trim() : null
      const message: Act = { kind: 'received', content: own?.content ?? text, time: null, meta: {} }
      return { acts: [message], others: injectedLines(held.length - (own === undefined ? 0 : 1)) }
    },
    release: () => {
      const held = take()
      if (has_events) return { acts: [], others: injectedLines(held.length) }
      return { acts: held.map((message) => ({ kind: 'received', ...message, meta: {} })), others: [] }
    },
  }
}

function injectedLines(count: number): OtherLine[] {
  return Array.from({ length: count }, () => otherLine('message injected', true))
}

function comparable(content: unknown): string {
  const text = contentOf(content)
  return typeof text === 'string' ? text.trim() : JSON.stringify(text)
}

/** The kind of a text that the program writes in the role of the user, by its beginning; null for other text. */
function injectionIn(text: unknown): string | null {
  if (typeof text !== 'string') return null
  const [, tag = ''] = /^\s*<([a-z_]+(?: instructions)?)>/.exec(text) ?? []
  if (injected.has(tag)) return tag
  return /^\s*# AGENTS\.md instructions|^\s*<INSTRUCTIONS>/.test(text) ? 'instructions' : null
}

const injected: ReadonlySet<string> = new Set([
  'collaboration_mode',
  'environment_context',
  'permissions instructions',
  'skill',
  'skills_instructions',
  'subagent_notification',
  'turn_aborted',
  'user_instructions',
  'user_shell_command',
])

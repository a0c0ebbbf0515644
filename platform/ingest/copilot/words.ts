// The words of low-code tools for steps, writers, verbs and times.
import { isoTime, parseTimestamp, spelling, stepAliases, stepWords } from '@svc/schemas'

const stepTypes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...stepWords.map(({ step_type }) => step_type), ...Object.keys(stepAliases)].map((word) => [spelling(word), word]),
  ),
  message: 'step.message',
  text: 'step.message',
  start: 'task.start',
  conversationstart: 'task.start',
  end: 'task.end',
  conversationend: 'task.end',
  endofconversation: 'task.end',
  error: 'task.error',
  model: 'step.model',
  llm: 'step.model',
  completion: 'step.model',
  exec: 'step.exec',
  code: 'step.exec',
  gate: 'step.gate',
  approval: 'step.gate',
  credential: 'step.credential',
  resource: 'step.resource',
}

/** The words for a call of a tool, whose step follows from its name. */
const toolWords: ReadonlySet<string> = new Set(['tool', 'toolcall', 'action', 'function', 'functioncall', 'connector'])

/** The step type that a word means; the word itself where it is another one; null for a call of a tool. */
export function stepTypeOf(word: string): string | null {
  const plain = spelling(word)
  if (toolWords.has(plain)) return null
  return Object.hasOwn(stepTypes, plain) ? (stepTypes[plain] ?? null) : word.trim()
}

const users: ReadonlySet<string> = new Set(['user', 'human', 'customer', 'client', 'visitor', 'incoming', 'inbound'])
const bots: ReadonlySet<string> = new Set(['bot', 'assistant', 'agent', 'ai', 'copilot', 'outgoing', 'outbound'])

export type Writer = 'user' | 'bot'

/** Who wrote a message; null for a word that says neither. */
export function writerOf(value: unknown): Writer | null {
  const given = Object(value) as { role?: unknown }
  const word = String(given.role ?? value).toLowerCase()
  if (users.has(word)) return 'user'
  return bots.has(word) ? 'bot' : null
}

const verbs = ['GET', 'POST', 'PATCH', 'DELETE'] as const

export function verbOf(value: unknown): (typeof verbs)[number] | null {
  const word = String(value)
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, '')
  return word === 'PUT' ? 'PATCH' : (verbs.find((verb) => verb === word) ?? null)
}

/** Seconds and milliseconds since 1970 are told apart by their size: 1e11 s is the year 5138. */
const minMilliseconds = 1e11
/** The end of the year 9999, ms. */
const maxTime = 253_402_300_799_999

/** A time as RFC 3339; a time that is one already stays as it is. */
export function timeOf(value: unknown): string | null {
  if (typeof value === 'string' && !/^\d+$/.test(value.trim())) {
    if (parseTimestamp(value.trim()) !== null) return value.trim()
    // Without a zone a time is UTC.
    return isoOrNull(Number.isNaN(Date.parse(`${value}Z`)) ? Date.parse(value) : Date.parse(`${value}Z`))
  }
  const number = typeof value === 'boolean' ? Number.NaN : Number(value)
  return isoOrNull(number < minMilliseconds ? number * 1000 : number)
}

function isoOrNull(time: number): string | null {
  return time > 0 && time <= maxTime ? isoTime(Math.trunc(time)) : null
}

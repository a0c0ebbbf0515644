// The reason why a pattern is rejected, and the character at which the error is.
import { quote } from '../check/quote.js'

/** The error of RE2JS for an invalid pattern: the kind of fault, and the part of the pattern with it. */
interface Rejection {
  readonly error?: string
  readonly input?: string | null
  readonly message?: string
}

/** Kinds of RE2 faults in plain words. */
const reasons: Readonly<Record<string, string>> = {
  'missing closing )': 'unclosed group',
  'unexpected )': 'a `)` that closes no group',
  'missing closing ]': 'unclosed `[`',
  'invalid character class range': 'a range or class of characters that does not exist',
  'missing argument to repetition operator': 'a repetition of nothing',
  'invalid nested repetition operator': 'a repetition of a repetition',
  'invalid repeat count': 'a count that is not from 0 to 1000, or whose first number is the larger one',
  'invalid escape sequence': 'an escape that does not exist',
  'trailing backslash at end of expression': 'a backslash with nothing after it',
  'invalid named capture': 'a group name that is not valid',
  'invalid or unsupported Perl syntax': 'a kind of group that does not exist',
  'duplicate capture group name': 'a group name used twice',
}

/** One sentence about a pattern for which RE2JS threw this error, or which is too large to run. */
export function patternFault(pattern: string, thrown: unknown): string {
  const shown = quote(pattern)
  if (thrown instanceof RangeError)
    return `the pattern ${shown} is too large to run in bounded time: ${thrown.message}; shorten its repetitions`
  const parts = partsOf(pattern)
  const rejected = parts.find(({ kind }) => kind !== 'other')
  if (rejected !== undefined) {
    const advice = rejected.kind === 'look-around' ? 'look-ahead and look-behind are' : 'back-references are'
    return `the pattern ${shown} has the ${rejected.kind} ${quote(rejected.text)} at character ${rejected.at + 1}: ${advice} not accepted, write the pattern without`
  }
  const { error = '', input, message = String(thrown) } = (thrown ?? {}) as Rejection
  const reason = reasons[error] ?? (error || message)
  const at = indexOf(error, pattern, input ?? null, parts)
  const part = input && /escape|range|count|group|named|Perl/.test(error) ? ` ${quote(input)}` : ''
  return `the pattern ${shown} is not valid: ${reason}${part} at character ${at + 1}`
}

interface Part {
  readonly kind: 'look-around' | 'back-reference' | 'other'
  readonly text: string
  /** 0-based offset into the pattern. */
  readonly at: number
}

const tokens =
  /\\Q[\s\S]*?(?:\\E|$)|\\k[<{'][^>}']*[>}']?|\\[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\(\?<?[=!]|\(\?P=\w*\)?|[\s\S]/gu

function partsOf(pattern: string): Part[] {
  return [...pattern.matchAll(tokens)].map(({ 0: text, index: at }) => ({ kind: kindOf(text), text, at }))
}

function kindOf(text: string): Part['kind'] {
  if (/^\(\?<?[=!]$/.test(text)) return 'look-around'
  return /^(\\[1-9k]|\(\?P=)/.test(text) ? 'back-reference' : 'other'
}

function indexOf(error: string, pattern: string, input: string | null, parts: readonly Part[]): number {
  if (error === 'missing closing )') return groups(parts).open ?? 0
  if (error === 'unexpected )') return groups(parts).extra ?? 0
  if (error.startsWith('trailing backslash')) return pattern.length - 1
  return Math.max(0, pattern.indexOf(input ?? ''))
}

/** The start of the innermost unclosed group, and the first `)` that closes no group. */
function groups(parts: readonly Part[]): { open: number | undefined; extra: number | undefined } {
  const open: number[] = []
  for (const { text, at } of parts) {
    if (text === '(') open.push(at)
    else if (text === ')' && open.pop() === undefined) return { open: open.at(-1), extra: at }
  }
  return { open: open.at(-1), extra: undefined }
}

// Parses YAML text, and aborts as soon as it costs more than any manifest can need.
import type { Document, LineCounter, Parser } from 'yaml'
import { composeSlices } from './slices.js'
import { yaml } from './yaml.js'

/** The text exceeds a limit. */
export class LimitExceeded extends Error {
  readonly code = 'LIMIT_EXCEEDED'
  /** 0-based offset into the text. */
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/**
 * Tokens of one file. A dense manifest has one token in three characters, so a file of 256 KiB stays far below; parsing
 * this many takes half a second on a slow core.
 */
const maxTokens = 150_000
/** Resolving an alias visits every anchor before it; 2,000 of both add less than 0.1 s (measured). */
export const maxAliases = 2000
/** Three times the levels of a policy (`maxPolicyDepth`), so that a policy that is too deep is rejected alone. */
const maxBrackets = 10_000
/** Each tag is an error with its own message. */
const maxTags = 20

// The duplicate key check of the package is quadratic; hazards() has a linear one.
const options = {
  version: '1.2',
  schema: 'core',
  merge: false,
  uniqueKeys: false,
  resolveKnownTags: false,
  prettyErrors: false,
} as const

/** The documents of a text, each composed on demand. Throws LimitExceeded. */
export function documentsOf(text: string, lines: LineCounter): Iterable<Document.Parsed> {
  const { Parser } = yaml()
  lines.addNewLine(0)
  return composeSlices(tokens(text, new Parser(lines.addNewLine)), options)
}

/** Lexemes that are not part of the text: start of a document, end of a flow collection, scalar. */
const marks = new Set(['\x02', '\x18', '\x1f'])

function* tokens(text: string, parser: Parser) {
  const { Lexer } = yaml()
  const count = newCount()
  let offset = 0
  for (const lexeme of new Lexer().lex(text)) {
    const excess = count(lexeme)
    if (excess !== null) throw new LimitExceeded(excess, offset)
    if (!marks.has(lexeme)) offset += lexeme.length
    yield* parser.next(lexeme)
  }
  yield* parser.end()
}

/** Counts lexemes; the message of the limit that the next one exceeds, or null. */
function newCount(): (lexeme: string) => string | null {
  const seen = { tokens: 0, aliases: 0, tags: 0, brackets: 0, dashes: 0 }
  const kinds: Readonly<Record<string, () => unknown>> = {
    '[': () => seen.brackets++,
    '{': () => seen.brackets++,
    ']': () => seen.brackets--,
    '}': () => seen.brackets--,
    '&': () => seen.aliases++,
    '*': () => seen.aliases++,
    '!': () => seen.tags++,
    // `- - -` on one line opens three lists.
    '-': () => seen.dashes++,
    '?': () => seen.dashes++,
    '\n': () => {
      seen.dashes = 0
    },
  }
  return (lexeme) => {
    seen.tokens++
    const first = lexeme[0] ?? ''
    if (lexeme.length === 1 || '&*!'.includes(first)) kinds[first]?.()
    if (seen.tokens > maxTokens) return `the file has more than ${maxTokens} keys, values and marks: split it`
    if (seen.aliases > maxAliases) return `more than ${maxAliases} anchors and aliases: write the repeated parts out`
    if (seen.tags > maxTags) return `more than ${maxTags} tags: remove them, tags are not allowed`
    return Math.max(seen.brackets, seen.dashes) > maxBrackets
      ? `nested deeper than ${maxBrackets} levels: close brackets that are open, or split the value`
      : null
  }
}

// YAML text to its documents, given up as soon as it costs more than any manifest can need.
import type { Document, LineCounter, Parser } from 'yaml'
import { composeSlices } from './slices.js'
import { yaml } from './yaml.js'

/** The text is larger, in some respect, than what is read. */
export class TooMuch extends Error {
  /** 0-based offset into the text. */
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/**
 * Tokens of one file. Dense manifests have one in three characters, so that a file of 256 KiB stays far below; parsing
 * this many takes half a second of a slow core.
 */
const maxTokens = 150_000
/** Resolving an alias costs a look at every anchor before it; 2,000 of both were measured to add less than 0.1 s. */
export const maxAliases = 2000
/** Three times what a policy may have (log/depth.ts), so that one that is too deep is rejected alone. */
const maxBrackets = 10_000
/** Tags are errors, each with a message of its own. */
const maxTags = 20

// The reader's own search for duplicate keys is quadratic; hazards() has a linear one.
const strictly = {
  version: '1.2',
  schema: 'core',
  merge: false,
  uniqueKeys: false,
  resolveKnownTags: false,
  prettyErrors: false,
} as const

/** The documents of a text, each composed when it is asked for. Throws TooMuch. */
export function documentsOf(text: string, lines: LineCounter): Iterable<Document.Parsed> {
  const { Parser } = yaml()
  lines.addNewLine(0)
  return composeSlices(tokens(text, new Parser(lines.addNewLine)), strictly)
}

/** What the lexer reports beside the text: a document, the end of a flow collection, a scalar. */
const marks = new Set(['\x02', '\x18', '\x1f'])

function* tokens(text: string, parser: Parser) {
  const { Lexer } = yaml()
  const count = newCount()
  let offset = 0
  for (const lexeme of new Lexer().lex(text)) {
    const excess = count(lexeme)
    if (excess !== null) throw new TooMuch(excess, offset)
    if (!marks.has(lexeme)) offset += lexeme.length
    yield* parser.next(lexeme)
  }
  yield* parser.end()
}

/** Counts what costs; says which bound the next lexeme breaks. */
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
    // `- - -` in one line is a list in a list in a list.
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

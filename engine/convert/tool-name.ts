// The words in the name of a tool, whatever style it is written in.
import { compounds, emptyWords, phrases } from './tool-words.js'

export interface NameWords {
  /** Words of the last part: `send`, `email` of `gmail.send_email`. */
  readonly own: readonly string[]
  /** Words of all parts. */
  readonly all: readonly string[]
}

/** A name can be of any length; a longer one reveals nothing more. */
const maxLength = 500

/** Splits snake_case, camelCase, kebab-case and parts such as `mcp__server__tool` and `gmail.send_email`. */
export function wordsOf(name: string): NameWords {
  const parts = name
    .slice(0, maxLength)
    .split(/__+|[.:/]+/)
    .map(wordsOfPart)
    .filter((words) => words.length > 0)
  return { own: parts.at(-1) ?? [], all: parts.flat() }
}

function wordsOfPart(part: string): string[] {
  const words = part
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    // Numbers and versions: web_search_20250305, text_editor_v2.
    .filter((word) => /[a-z]/.test(word) && !/^v\d+$/.test(word) && !emptyWords.has(word))
    .flatMap((word) => (Object.hasOwn(compounds, word) ? (compounds[word] ?? []) : [word]))
  return joined(words)
}

/** The words with `check`, `in` as `checkin`. */
function joined(words: readonly string[]): string[] {
  const result: string[] = []
  for (let index = 0; index < words.length; index++) {
    const pair = `${words[index]} ${words[index + 1]}`
    const phrase = Object.hasOwn(phrases, pair) ? phrases[pair] : undefined
    if (phrase !== undefined) index++
    result.push(phrase ?? words[index] ?? '')
  }
  return result
}

/** `emails` as `email`, `replies` as `reply`. */
export function singular(word: string): string {
  if (/(ss|us|is|news|sms|dns)$/.test(word)) return word
  return word
    .replace(/ies$/, 'y')
    .replace(/(x|ch|sh)es$/, '$1')
    .replace(/s$/, '')
}

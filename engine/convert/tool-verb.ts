// The verb in the name of a tool.
import { type NameWords, singular } from './tool-name.js'
import {
  conjunctions,
  doubtfulVerbs,
  facts,
  messages,
  mostlyNouns,
  openedAnew,
  pages,
  readEndings,
  states,
  type Verb,
  verbsOrNouns,
  verbWords,
  webWords,
  writtenByOthers,
} from './tool-words.js'

export interface Act {
  readonly verb: Verb
  /** The word that is the verb; null when a noun reveals it. */
  readonly word: string | null
  /** True when the name can be read in another way. */
  readonly doubtful: boolean
}

/** The verb of a name; null when its words reveal none. */
export function actOf({ own, all }: NameWords): Act | null {
  return actIn(own) ?? actIn(all)
}

const order: readonly Verb[] = ['GET', 'POST', 'PATCH', 'DELETE']

function actIn(words: readonly string[]): Act | null {
  const found = words.flatMap((word, index) => {
    const verb = verbIn(verbWords, word) ?? (isJoined(words, index) ? verbIn(verbsOrNouns, word) : null)
    return verb === null ? [] : [{ verb, word }]
  })
  const [first] = found
  if (first === undefined) return ambiguousAct(words)
  const others = new Set(found.map(({ verb }) => verb))
  // `mark_as_read` changes something, `update_read_status` as well.
  if (first.verb !== 'GET') others.delete('GET')
  const doubtful = others.size > 1 || doubtfulVerbs.has(first.word)
  // A tool that reads and changes counts as the change (docs/steps.md).
  const strongest = found.findLast(({ verb }) => verb === order.findLast((candidate) => others.has(candidate)))
  return { ...(strongest ?? first), doubtful }
}

/** `find_and_book`: what a conjunction joins are verbs. */
function isJoined(words: readonly string[], index: number): boolean {
  if (index > 0) return conjunctions.has(words[index - 1] ?? '')
  return words.some((word, at) => {
    const next = words[at + 1] ?? ''
    return at > 0 && conjunctions.has(word) && (verbIn(verbWords, next) ?? verbIn(verbsOrNouns, next)) !== null
  })
}

/** A name whose only verbs can be nouns: `order_pizza`, `order_search`. */
function ambiguousAct(words: readonly string[]): Act | null {
  const first = words[0] ?? ''
  const last = words.length > 1 ? (words.at(-1) ?? '') : ''
  if (first === 'open') return openAct(words)
  const firstVerb = verbIn(verbsOrNouns, first)
  const lastVerb = verbIn(verbsOrNouns, last)
  if (firstVerb === 'GET') return { verb: 'GET', word: first, doubtful: doubtfulVerbs.has(first) }
  if (firstVerb !== null) {
    if (lastVerb === 'GET') return { verb: 'GET', word: last, doubtful: true }
    if (states.has(last) || (mostlyNouns.has(first) && facts.has(last)))
      return { verb: 'GET', word: null, doubtful: true }
    return { verb: firstVerb, word: first, doubtful: mostlyNouns.has(first) && words.length > 1 }
  }
  if (lastVerb !== null) return { verb: lastVerb, word: last, doubtful: !readEndings.has(last) }
  // The name of an application may be in front: `github_list_issues`.
  const inner = words.slice(1, -1).find((word) => verbIn(verbsOrNouns, word) !== null)
  const verb = inner === undefined ? null : verbIn(verbsOrNouns, inner)
  if (inner === undefined || verb === null) return null
  return { verb, word: inner, doubtful: !readEndings.has(inner) }
}

/** `open` shows a file and creates a ticket. */
function openAct(words: readonly string[]): Act {
  const objects = words.slice(1).map(singular)
  if (objects.some((word) => openedAnew.has(word))) return { verb: 'POST', word: 'open', doubtful: true }
  const isShown = objects.some(
    (word) => writtenByOthers.has(word) || messages.has(word) || pages.has(word) || webWords.has(word),
  )
  return { verb: 'GET', word: 'open', doubtful: !isShown && words.length > 1 }
}

function verbIn(table: Readonly<Record<Verb, ReadonlySet<string>>>, word: string): Verb | null {
  return order.find((verb) => table[verb].has(word)) ?? null
}

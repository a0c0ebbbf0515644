// An index of texts that answers whether words occur in one of them, next to each other and in order. The cost of an
// answer depends on the number of words asked for, not on the texts: a suffix automaton over words (Blumer et al., "The
// smallest automaton recognizing the subwords of a text", 1985), in which no path leads from one text to the next.
import { detached } from './words.js'

export interface Phrases {
  /** Words of all texts. */
  readonly size: number
  readonly add: (words: readonly string[]) => void
  readonly has: (words: readonly string[]) => boolean
  /** True if words next to each other in one of the texts are these letters when nothing is between them. */
  readonly spells: (letters: string) => boolean
  /** True if the word occurs in any text. */
  readonly knows: (word: string) => boolean
}

/**
 * State 0 is the empty phrase. Most states are left by one word, which lists of numbers hold; a map holds the others. One map
 * for all edges would have keys beyond 31 bits, each an object for the garbage collector.
 */
interface Automaton {
  readonly ids: Map<string, number>
  readonly length: number[]
  readonly link: number[]
  /** The word that leaves the state first, or -1, and the state that it leads to. */
  readonly word: number[]
  readonly next: number[]
  readonly more: (Map<number, number> | undefined)[]
}

/** Ways to split letters into words of the texts that are tried; more than any account number has. */
const maxSplits = 1000

export function createPhrases(): Phrases {
  const automaton: Automaton = { ids: new Map(), length: [0], link: [-1], word: [-1], next: [0], more: [undefined] }
  let size = 0
  return {
    get size() {
      return size
    },
    add: (words) => {
      let last = 0
      for (const word of words) last = extend(automaton, last, idOf(automaton, word))
      size += words.length
    },
    has: (words) => {
      let state: number | undefined = 0
      for (const word of words) {
        const id = automaton.ids.get(word)
        state = id === undefined ? undefined : edge(automaton, state, id)
        if (state === undefined) return false
      }
      return true
    },
    spells: (letters) => spells(automaton, letters),
    knows: (word) => automaton.ids.has(word),
  }
}

function spells(automaton: Automaton, letters: string): boolean {
  const open = [{ state: 0, at: 0 }]
  for (let tried = 0; tried < maxSplits; tried++) {
    const split = open.pop()
    if (split === undefined) return false
    for (let to = split.at + 1; to <= letters.length; to++) {
      const id = automaton.ids.get(letters.slice(split.at, to))
      const state = id === undefined ? undefined : edge(automaton, split.state, id)
      if (state === undefined) continue
      if (to === letters.length) return true
      open.push({ state, at: to })
    }
  }
  return false
}

/** Phrases of two indexes, to which texts are added without changing the first. */
export function extended(first: Phrases): Phrases {
  const second = createPhrases()
  return {
    get size() {
      return first.size + second.size
    },
    add: second.add,
    has: (words) => first.has(words) || second.has(words),
    spells: (letters) => first.spells(letters) || second.spells(letters),
    knows: (word) => first.knows(word) || second.knows(word),
  }
}

function idOf({ ids }: Automaton, word: string): number {
  const known = ids.get(word)
  if (known !== undefined) return known
  ids.set(detached(word), ids.size)
  return ids.size - 1
}

/** Adds a word after the phrase of state `last`; returns the state of the longer phrase. */
function extend(automaton: Automaton, last: number, id: number): number {
  const known = edge(automaton, last, id)
  if (known !== undefined) return exactly(automaton, last, id, known)
  const state = newState(automaton, lengthOf(automaton, last) + 1)
  let from = last
  while (from !== -1 && edge(automaton, from, id) === undefined) {
    setEdge(automaton, from, id, state)
    from = automaton.link[from] as number
  }
  const next = from === -1 ? undefined : edge(automaton, from, id)
  automaton.link[state] = next === undefined ? 0 : exactly(automaton, from, id, next)
  return state
}

/** The state of exactly the phrase of `from` and the word; splits `next` when it is the state of longer phrases as well. */
function exactly(automaton: Automaton, from: number, id: number, next: number): number {
  const length = lengthOf(automaton, from) + 1
  if (lengthOf(automaton, next) === length) return next
  const clone = newState(automaton, length)
  automaton.word[clone] = automaton.word[next] as number
  automaton.next[clone] = automaton.next[next] as number
  automaton.more[clone] = automaton.more[next] && new Map(automaton.more[next])
  automaton.link[clone] = automaton.link[next] as number
  automaton.link[next] = clone
  for (let at = from; at !== -1 && edge(automaton, at, id) === next; at = automaton.link[at] as number)
    setEdge(automaton, at, id, clone)
  return clone
}

function newState({ length, link, word, next, more }: Automaton, words: number): number {
  link.push(0)
  word.push(-1)
  next.push(0)
  more.push(undefined)
  return length.push(words) - 1
}

function edge({ word, next, more }: Automaton, state: number, id: number): number | undefined {
  return word[state] === id ? next[state] : more[state]?.get(id)
}

function setEdge({ word, next, more }: Automaton, state: number, id: number, to: number): void {
  if (word[state] === -1 || word[state] === id) {
    word[state] = id
    next[state] = to
    return
  }
  const others = more[state] ?? new Map<number, number>()
  others.set(id, to)
  more[state] = others
}

function lengthOf({ length }: Automaton, state: number): number {
  return length[state] as number
}

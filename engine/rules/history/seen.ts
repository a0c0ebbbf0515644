// In which step a value first appeared, for the evidence of a violation.
import type { EvidenceStep } from '@svc/schemas'
import { type CompileEnvironment, evidenceOfRecorded, type Recorded, type Slot } from '../form/rule.js'
import { detached, trimmed } from '../values/words.js'

export interface Seen {
  /** The step whose output first had the value, else its longest word; null when none had. */
  readonly stepOf: (words: readonly string[]) => EvidenceStep | null
}

interface SeenState extends Seen {
  readonly first: Map<string, EvidenceStep>
}

/** Evidence of a long task may be incomplete; an answer never depends on it. */
const maxSeen = 20_000
/** Words of a longer text are kept, the text is not. */
const maxTextWords = 12
/** Characters of a text that are read: all of it at once would hold up a program for a second for each 10 MB. */
const maxText = 65_536
/** A shorter word is in most texts. */
const minWord = 4

export function trackSeen(environment: CompileEnvironment): Slot<Seen> {
  return environment.track<SeenState>({
    key: 'first seen',
    costly: ({ first }) => first.size,
    init: newSeen,
    add: (state, recorded) => {
      if (state.first.size < maxSeen) addTo(state, recorded)
      return state
    },
    // Later steps of a copy are reserved ones, which have no output.
    copy: (state) => state,
  })
}

function newSeen(): SeenState {
  const first = new Map<string, EvidenceStep>()
  return {
    first,
    stepOf: (words) => {
      const whole = first.get(words.join(' '))
      if (whole !== undefined) return whole
      let longest = ''
      for (const word of words) if (word.length > longest.length) longest = word
      return first.get(longest) ?? null
    },
  }
}

function addTo({ first }: SeenState, recorded: Recorded): void {
  if (recorded.type === 'step.model') return
  const evidence = evidenceOfRecorded(recorded)
  const keep = (text: string) => {
    if (!first.has(text)) first.set(detached(text), evidence)
  }
  for (const received of recorded.texts.received) {
    if (first.size >= maxSeen) return
    const { words: all, tokens } = received.upTo(maxText)
    const words = trimmed(all)
    if (words.length <= maxTextWords) keep(words.join(' '))
    for (const token of tokens) {
      const own = trimmed(token.words)
      if (own.length > 1) keep(own.join(' '))
    }
    for (const word of words) if (word.length >= minWord) keep(word)
  }
}

// The texts of a recorded step in the forms in which rules index them, read once for all rules.
import type { Step } from '@svc/schemas'
import { comparable, tokensOf } from '../values/value-parts.js'
import { trimmed, wordsOf } from '../values/words.js'
import { type Label, labelsOrPublic } from './labels.js'
import { type Leaf, someReceivedLeaf, someSentLeaf } from './leaves.js'

/** A part of a text between spaces, quotes, commas and the like. */
export interface Token {
  readonly words: readonly string[]
  /** As values are compared. */
  readonly value: string
}

/** A text with its forms, each computed when it is first read. */
export class ReceivedText implements Leaf {
  readonly text: string
  readonly is_number: boolean
  readonly label: Label
  #words: readonly string[] | undefined
  #tokens: readonly Token[] | undefined

  constructor({ text, is_number }: Leaf, label: Label) {
    this.text = text
    this.is_number = is_number
    this.label = label
  }

  /** The text, or as much of it as the length allows. */
  upTo(length: number): ReceivedText {
    if (this.text.length <= length) return this
    return new ReceivedText({ text: this.text.slice(0, length), is_number: this.is_number }, this.label)
  }

  get words(): readonly string[] {
    this.#words ??= wordsOf(this.text)
    return this.#words
  }

  get tokens(): readonly Token[] {
    this.#tokens ??= tokensOf(this.text).map((token) => ({ words: wordsOf(token), value: comparable(token) }))
    return this.#tokens
  }
}

/** The texts that a step received, and the identifiers that it sent. */
export interface StepTexts {
  readonly received: readonly ReceivedText[]
  readonly identifiers: readonly Token[]
}

/** The texts of a step of that canonical type, read when a rule first asks for them. */
export class RecordedTexts implements StepTexts {
  readonly #step: Step
  readonly #type: string
  #received: readonly ReceivedText[] | undefined
  #identifiers: readonly Token[] | undefined

  constructor(step: Step, type: string) {
    this.#step = step
    this.#type = type
  }

  get received(): readonly ReceivedText[] {
    this.#received ??= receivedBy(this.#step, this.#type)
    return this.#received
  }

  get identifiers(): readonly Token[] {
    this.#identifiers ??= identifiersIn(this.#step)
    return this.#identifiers
  }
}

function receivedBy(step: Step, type: string): ReceivedText[] {
  const texts: ReceivedText[] = []
  someReceivedLeaf(step, type, labelsOrPublic(step), (leaf, label) => {
    texts.push(new ReceivedText(leaf, label))
    return false
  })
  return texts
}

function identifiersIn({ input }: Step): Token[] {
  const found: Token[] = []
  someSentLeaf(input, ({ text }) => {
    if (!isIdentifier(text)) return false
    for (const token of tokensOf(text))
      if (isIdentifier(token)) found.push({ words: trimmed(wordsOf(token)), value: comparable(token) })
    return false
  })
  return found
}

/** Addresses, links, numbers and the like; ordinary words are in too many texts to be of one author. */
function isIdentifier(token: string): boolean {
  return /[\d@]|\p{L}\.\p{L}|:\/\//u.test(token)
}

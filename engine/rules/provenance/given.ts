// The texts that a task was given: those of the user, and outputs of the steps that a rule trusts. A text of the task itself is
// not evidence when it is read again (docs/design/engine.md §3, value_from).
import { hasWritePermission, type Step } from '@svc/schemas'
import type { Recorded } from '../form/rule.js'
import { compileStepField } from '../selection/lookup.js'
import type { Label } from '../taint/labels.js'
import type { ReceivedText } from '../taint/recorded-text.js'
import { AmbiguousField } from '../values/members.js'
import { createPhrases, extended, type Phrases } from '../values/phrases.js'
import { wholesIn, wholesOf } from '../values/wholes.js'
import { detached, wordsOf } from '../values/words.js'

/** A value in the forms in which it is looked up. */
export interface Value {
  readonly words: readonly string[]
  /** The addresses, hosts and links in it. */
  readonly wholes: readonly string[]
}

/** Texts that a task was given. */
interface Texts {
  readonly phrases: Phrases
  readonly wholes: Set<string>
}

export interface Given {
  readonly user: Texts
  readonly trusted: Texts
  /** Addresses, links and numbers that the task wrote before it was given them. */
  readonly written: Set<string>
  /** The resources that the task changed. */
  readonly changed: Set<string>
  overflow: boolean
}

/** Words kept for one task. A task with more cannot be followed. */
const maxWords = 50_000

export function newGiven(): Given {
  return { user: newTexts(), trusted: newTexts(), written: new Set(), changed: new Set(), overflow: false }
}

function newTexts(): Texts {
  return { phrases: createPhrases(), wholes: new Set() }
}

function copyOfTexts({ phrases, wholes }: Texts): Texts {
  return { phrases: extended(phrases), wholes: new Set(wholes) }
}

export function copyOfGiven({ user, trusted, written, changed, overflow }: Given): Given {
  return {
    user: copyOfTexts(user),
    trusted: copyOfTexts(trusted),
    written: new Set(written),
    changed: new Set(changed),
    overflow,
  }
}

export function wordsOfGiven({ user, trusted, written, changed }: Given): number {
  const ofTexts = ({ phrases, wholes }: Texts) => phrases.size + wholes.size
  return ofTexts(user) + ofTexts(trusted) + written.size + changed.size
}

export function formsOf(text: string, words: readonly string[] = wordsOf(text)): Value {
  return { words, wholes: wholesOf(text) }
}

/** True if the value occurs in a text of the user or in a trusted output. */
export function isGiven({ user, trusted }: Given, value: Value): boolean {
  return isIn(user, value) || isIn(trusted, value)
}

/** True if the words occur in one of the texts, and its addresses, hosts and links as wholes. Spaces in account numbers do not count. */
export function isIn({ phrases, wholes }: Texts, value: Value): boolean {
  if (!value.wholes.every((whole) => wholes.has(whole))) return false
  if (phrases.has(value.words)) return true
  const letters = value.words.join('')
  // The low lines of `_kim@example.org_`, which Markdown makes emphasis, are parts of its words.
  if (letters === value.wholes[0]) return true
  return isGroupable(letters) && phrases.spells(letters)
}

/** Letters and digits with at least four digits, which people write in groups. */
function isGroupable(letters: string): boolean {
  return letters.length >= 8 && letters.length <= 64 && /^(?:[a-z]*[0-9]){4}[a-z0-9]*$/.test(letters)
}

/** Adds a recorded step. `trusts` selects the parts of its output that are trusted, by label; null trusts none. */
export function addToGiven(given: Given, recorded: Recorded, trusts: ((label: Label) => boolean) | null): void {
  const { step, type } = recorded
  const resource = resourceOf(step)
  const isUser = type === 'step.message' && isWithUser(step)
  const writes = hasWritePermission(step) && !isUser && !ownWork.has(type)
  if (isUser) addUserText(given, recorded)
  if (writes) addWritten(given, recorded)
  if (trusts !== null && !ownWork.has(type) && !given.changed.has(resource ?? ''))
    for (const text of recorded.texts.received) {
      if (given.overflow) break
      if (trusts(text.label)) addTrusted(given, text)
    }
  // The answer of the step itself is new to the agent; content that is read from the resource later may be its own work.
  if (writes && resource !== null) given.changed.add(resource)
}

/** Thoughts, notes and permissions of an agent are not evidence of anything. */
const ownWork: ReadonlySet<string> = new Set(['step.model', 'step.self', 'step.gate'])

/** A message of the user; text that the user passes on from others has their label. */
function addUserText(given: Given, recorded: Recorded): void {
  if (recorded.step.verb !== 'GET') return
  for (const { label, words, text } of recorded.texts.received) {
    if (given.overflow) break
    if (label === null || label === 'own') addWords(given, given.user, words, text)
  }
}

const counterpart = compileStepField('counterpart.kind', 'field')

function isWithUser(step: Step): boolean {
  return readOrNull(counterpart, step) === 'user'
}

function addWritten(given: Given, recorded: Recorded): void {
  for (const { words, value } of recorded.texts.identifiers) {
    if (given.overflow) break
    if (!given.written.has(value) && !isGiven(given, formsOf(value, words))) given.written.add(detached(value))
    given.overflow = given.written.size > maxWords
  }
}

/** Adds a text of the trusted; a value that the task wrote itself ends a phrase. */
function addTrusted(given: Given, text: ReceivedText): void {
  if (given.written.size === 0) {
    addWords(given, given.trusted, text.words, text.text)
    return
  }
  let part: string[] = []
  for (const { words, value } of text.tokens) {
    if (!given.written.has(value)) {
      for (const word of words) part.push(word)
      addWords(given, given.trusted, [], value)
      continue
    }
    addWords(given, given.trusted, part)
    part = []
  }
  addWords(given, given.trusted, part)
}

function addWords(given: Given, { phrases, wholes }: Texts, words: readonly string[], text = ''): void {
  given.overflow ||= given.user.phrases.size + given.trusted.phrases.size + words.length > maxWords
  if (given.overflow) return
  phrases.add(words)
  for (const whole of wholesIn(text)) wholes.add(detached(whole))
}

const parts = ['target.host', 'target.resource_type', 'target.path'].map((path) => compileStepField(path, 'field'))

/** The resource that a step reads or changes; null when its properties name none. */
function resourceOf(step: Step): string | null {
  const names = parts.map((get) => readOrNull(get, step))
  return names.every((name) => name === null) ? null : JSON.stringify(names)
}

function readOrNull(get: (step: Step) => unknown, step: Step): unknown {
  try {
    return get(step)
  } catch (error) {
    if (error instanceof AmbiguousField) return null
    throw error
  }
}

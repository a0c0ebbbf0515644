// What a task was given: the texts of the user, and the outputs of the steps that a rule trusts. What the task wrote itself is
// not evidence when it is read again (docs/design/engine.md §3, value_from).
import { hasWritePermission, type Step } from '@svc/schemas'
import type { Label } from './labels.js'
import { compileStepField } from './lookup.js'
import { AmbiguousField } from './members.js'
import { createPhrases, extended, type Phrases } from './phrases.js'
import type { ReceivedText } from './recorded-text.js'
import type { Recorded } from './rule.js'
import { detached } from './words.js'

export interface Given {
  readonly user: Phrases
  readonly trusted: Phrases
  /** Addresses, links and numbers that the task wrote before it was given them. */
  readonly written: Set<string>
  /** The resources that the task changed. */
  readonly changed: Set<string>
  overflow: boolean
}

/** Words kept for one task. A task with more cannot be followed. */
const maxWords = 50_000

export function newGiven(): Given {
  return { user: createPhrases(), trusted: createPhrases(), written: new Set(), changed: new Set(), overflow: false }
}

export function copyOfGiven({ user, trusted, written, changed, overflow }: Given): Given {
  return {
    user: extended(user),
    trusted: extended(trusted),
    written: new Set(written),
    changed: new Set(changed),
    overflow,
  }
}

export function wordsOfGiven({ user, trusted, written, changed }: Given): number {
  return user.size + trusted.size + written.size + changed.size
}

/** Whether the words occur in a text of the user or in a trusted output. Spaces in account numbers and the like do not count. */
export function isGiven({ user, trusted }: Given, words: readonly string[]): boolean {
  if (user.has(words) || trusted.has(words)) return true
  const letters = words.join('')
  return isGroupable(letters) && (user.spells(letters) || trusted.spells(letters))
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
  // What the step itself answers is new to the agent; what is read from the resource later may be its own work.
  if (writes && resource !== null) given.changed.add(resource)
}

/** What an agent thinks, notes or is allowed is not evidence of anything. */
const ownWork: ReadonlySet<string> = new Set(['step.model', 'step.self', 'step.gate'])

/** A message of the user; text that the user passes on from others has their label. */
function addUserText(given: Given, recorded: Recorded): void {
  if (recorded.step.verb !== 'GET') return
  for (const { label, words } of recorded.texts.received) {
    if (given.overflow) break
    if (label === null || label === 'own') addWords(given, given.user, words)
  }
}

const counterpart = compileStepField('counterpart.kind', 'field')

function isWithUser(step: Step): boolean {
  return readOrNull(counterpart, step) === 'user'
}

function addWritten(given: Given, recorded: Recorded): void {
  for (const { words, value } of recorded.texts.identifiers) {
    if (given.overflow) break
    if (!given.written.has(value) && !isGiven(given, words)) given.written.add(detached(value))
    given.overflow = given.written.size > maxWords
  }
}

/** Adds a text of the trusted; a value that the task wrote itself ends a phrase. */
function addTrusted(given: Given, text: ReceivedText): void {
  if (given.written.size === 0) {
    addWords(given, given.trusted, text.words)
    return
  }
  let part: string[] = []
  for (const { words, value } of text.tokens) {
    if (!given.written.has(value)) {
      for (const word of words) part.push(word)
      continue
    }
    addWords(given, given.trusted, part)
    part = []
  }
  addWords(given, given.trusted, part)
}

function addWords(given: Given, phrases: Phrases, words: readonly string[]): void {
  given.overflow ||= given.user.size + given.trusted.size + words.length > maxWords
  if (!given.overflow) phrases.add(words)
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

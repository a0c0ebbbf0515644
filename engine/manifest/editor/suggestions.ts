// The words that an editor offers where other values are valid too: a snippet does not restrict a value, as an enum would.
import { type JsonMap, propertyWords, stepWords, verbs } from '@svc/schemas'
import { recordedStepType } from '../parse/shape.js'

interface Word {
  readonly word: string
  readonly meaning?: string
}

const fields = propertyWords.map(({ name, values, meaning }) => ({ word: name, meaning: `${meaning} (${values})` }))

const snippetsOf = (words: readonly Word[]): JsonMap[] =>
  words.map(({ word, meaning }) => ({ label: word, bodyText: word, description: meaning }))

/** The step types as snippets. */
const stepTypeSnippets = snippetsOf(stepWords.map(({ step_type, meaning }) => ({ word: step_type, meaning })))

/** A text for which an editor offers words. */
const textOf = (snippets: readonly JsonMap[]): JsonMap => ({ type: 'string', minLength: 1, defaultSnippets: snippets })

/** A definition for each kind of text that has suggestions. */
export const suggestions: JsonMap = {
  step_type: textOf(stepTypeSnippets),
  recorded_step_type: { ...recordedStepType, defaultSnippets: stepTypeSnippets },
  verb: { type: 'string', defaultSnippets: snippetsOf(verbs.map((word) => ({ word }))) },
  field: textOf(snippetsOf(fields)),
  check_type: textOf(snippetsOf([{ word: 'human_approval', meaning: 'a person approves' }])),
}

/** Text is first, because editors write the colon after a key only where the type is known. */
const anyType = ['string', 'number', 'boolean', 'array', 'object', 'null']

/** The well-known properties as members of a map, each with its meaning. */
export const knownFields: JsonMap = Object.fromEntries(
  fields.map(({ word, meaning }) => [word, { type: anyType, description: meaning }]),
)

/** The same schema in which each part that names a definition in `x-editor` refers to it, and keeps its description. */
export function withReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withReferences)
  if (typeof schema !== 'object' || schema === null) return schema
  const { 'x-editor': name, ...own } = schema as JsonMap
  // Language servers offer less for a reference that has more beside it.
  if (name !== undefined) return { description: own.description, ...reference(String(name)) }
  return Object.fromEntries(Object.entries(own).map(([key, member]) => [key, withReferences(member)]))
}

export function reference(definition: string): JsonMap {
  return { $ref: `#/$defs/${definition}` }
}

// The authors of what a step received: `content.trust`, and `content.trust_of` for parts of the output (docs/design/engine.md §1).
import type { JsonMap, Step } from '@svc/schemas'
import { AmbiguousField, dotted } from '../values/members.js'
import { comparable } from '../values/spelled.js'
import { targetTrust } from './target-trust.js'

/** Labels, the least trusted first. */
const labels = ['public', 'third_party', 'own'] as const

/** The author of a value; null for content without a label. */
export type Label = (typeof labels)[number] | null

/** The label of the part of an output below a path, in which `*` is any one segment. */
export interface LabelledField {
  readonly path: readonly string[]
  readonly label: Label
}

export interface Labels {
  /** Of everything that no field labels. */
  readonly whole: Label
  readonly fields: readonly LabelledField[]
}

export interface StepLabels extends Labels {
  /** The labels that follow from the memory of the agent: no part is more trusted than they say. */
  readonly limit?: Labels
}

/** The author of content of others. */
export type OthersLabel = 'public' | 'third_party'

/** The member of `meta` in which the engine states who wrote what the step read from the memory of its agent. */
export const memoryMember = 'svc.memory'

const trust = dotted(['content', 'trust'])
const trustOf = dotted(['content', 'trust_of'])
const unlabelled: Labels = { whole: null, fields: [] }

/** The less trusted of two labels. */
export function lessTrusted<L extends Label>(a: L, b: L): L {
  if (a === null || b === null) return a ?? b
  return labels.indexOf(a) < labels.indexOf(b) ? a : b
}

/** The least trusted label of all; null when no part has one. */
export function leastTrusted(all: Iterable<Label>): Label {
  let least: Label = null
  for (const label of all) least = lessTrusted(least, label)
  return least
}

/** The labels of a step. Throws AmbiguousField for a label with two values. */
export function labelsOf(step: Step): StepLabels {
  const own = ownLabelsOf(step)
  const limit = memoryLabelsIn(step.meta)
  return limit === null ? own : { ...own, limit }
}

/** The labels that the agent sets. */
function ownLabelsOf(step: Step): Labels {
  const { properties } = step
  if (properties === undefined && step.is_external_call === undefined) return unlabelled
  const given = trust(properties) ?? (typeof properties?.content === 'string' ? properties.content : null)
  const whole = given === null ? impliedBy(step) : labelIn(given)
  const parts = trustOf(properties)
  const flat = Object.keys(properties ?? {}).filter((key) => key.startsWith(flatStart))
  if (parts === null && flat.length === 0) return whole === null ? unlabelled : { whole, fields: [] }
  // A map that cannot be read must not make content more trusted.
  if (typeof parts !== 'object' || Array.isArray(parts)) return { whole: 'public', fields: [] }
  const fields = Object.entries((parts ?? {}) as JsonMap).flatMap(([path, label]) => labelledField(path, label))
  for (const key of flat) fields.push(...labelledField(key.slice(flatStart.length), properties?.[key]))
  return { whole, fields }
}

/** Begins the key of a label in properties that are one flat map. */
const flatStart = 'content.trust_of.'

/** A path of the output. It may begin with `output`, as in the fields of rules, and have brackets, as in `mails[*].body`. */
function labelledField(path: string, given: unknown): LabelledField[] {
  const label = labelIn(given)
  const segments = path.replaceAll(/\[(\*|\d*)\]/g, (_, index: string) => `.${index || '*'}`).split('.')
  const field = { path: segments, label }
  return segments[0] === 'output' && segments.length > 1 ? [field, { path: segments.slice(1), label }] : [field]
}

/** The same where an ambiguous label must have one answer: the least trusted. */
export function labelsOrPublic(step: Step): StepLabels {
  try {
    return labelsOf(step)
  } catch (error) {
    if (error instanceof AmbiguousField) return { whole: 'public', fields: [] }
    throw error
  }
}

/** `content.trust` as filters see it: the label, or the list of all labels; null without one. */
export function contentTrust(step: Step): unknown {
  const labelled = labelsOf(step)
  const { whole, fields, limit = unlabelled } = labelled
  if (fields.length === 0 && limit.fields.length === 0) return lessTrusted(whole, limit.whole)
  const all = new Set(everyLabel(labelled))
  all.delete(null)
  return [...all]
}

/** The labels that parts of the step may have. */
export function everyLabel({ whole, fields, limit = unlabelled }: StepLabels): Label[] {
  const own = [whole, ...fields.map(({ label }) => label)].map((label) => lessTrusted(label, limit.whole))
  return [...own, ...limit.fields.map(({ label }) => label)]
}

/** The least trusted label of others that any part of the step has; null when no part is known to be of others. */
export function othersIn(step: Step): OthersLabel | null {
  const labelled: StepLabels = labelsOrPublic(step)
  const least = labelled === unlabelled ? null : leastTrusted(everyLabel(labelled))
  return least === 'own' ? null : least
}

/** The labels as the engine states them; a statement that cannot be read must not make content more trusted. */
export function memoryLabelsIn(meta: JsonMap | undefined): Labels | null {
  const stated = (meta?.[memoryMember] ?? null) as { trust?: unknown; parts?: unknown } | null
  if (stated === null) return null
  const { trust = null, parts = [] } = stated
  const isRead = typeof stated === 'object' && Array.isArray(parts) && parts.every((part) => Array.isArray(part?.path))
  if (!isRead) return { whole: 'public', fields: [] }
  const fields = parts.map((part) => ({ path: part.path.map(String), label: labelIn(part.trust) }))
  return { whole: trust === null ? null : labelIn(trust), fields }
}

/** Labels as the engine states them in `memoryMember`. */
export function statedLabels({ whole, fields }: Labels): JsonMap {
  return { trust: whole, parts: fields.map(({ path, label }) => ({ path: [...path], trust: label })) }
}

/** The content that an external target returns is public. */
function impliedBy(step: Step): Label {
  const reads = step.verb === 'GET' || step.verb === undefined
  return reads && targetTrust(step) === 'external' ? 'public' : null
}

/** The least trusted of a list; a word that is not a label, or an empty list, counts as `public`, so that a misspelt label protects. */
function labelIn(given: unknown): Label {
  const exact = labels.find((label) => label === given)
  if (exact !== undefined) return exact
  const words = (Array.isArray(given) ? given : [given]).map((word) => comparable('content.trust', word))
  if (words.some((word) => !labels.some((label) => label === word))) return 'public'
  return labels.find((label) => words.includes(label)) ?? 'public'
}

// Who wrote what a step received: `content.trust`, and `content.trust_of` for parts of the output (docs/design/engine.md §1).
import type { JsonMap, Step } from '@svc/schemas'
import { AmbiguousField, dotted } from './members.js'
import { targetTrust } from './target-trust.js'

/** Labels, the least trusted first. */
const labels = ['public', 'third_party', 'own'] as const

/** Who wrote a value; null for content without a label. */
export type Label = (typeof labels)[number] | null

/** The label of the part of an output below a path, in which `*` is any one segment. */
export interface LabelledField {
  readonly path: readonly string[]
  readonly label: Label
}

export interface StepLabels {
  /** Of everything that no field labels. */
  readonly whole: Label
  readonly fields: readonly LabelledField[]
}

const trust = dotted(['content', 'trust'])
const trustOf = dotted(['content', 'trust_of'])
const unlabelled: StepLabels = { whole: null, fields: [] }

/** The labels of a step. Throws AmbiguousField for a label with two values. */
export function labelsOf(step: Step): StepLabels {
  const { properties } = step
  if (properties === undefined && step.is_external_call === undefined) return unlabelled
  const given = trust(properties)
  const whole = given === null ? impliedBy(step) : labelIn(given)
  const parts = trustOf(properties)
  if (parts === null) return whole === null ? unlabelled : { whole, fields: [] }
  // A map that cannot be read must not make content more trusted.
  if (typeof parts !== 'object' || Array.isArray(parts)) return { whole: 'public', fields: [] }
  const fields = Object.entries(parts as JsonMap).map(([path, label]) => ({
    path: path.split('.'),
    label: labelIn(label),
  }))
  return { whole, fields }
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
  const { whole, fields } = labelsOf(step)
  if (fields.length === 0) return whole
  const all = new Set([whole, ...fields.map(({ label }) => label)])
  all.delete(null)
  return [...all]
}

/** What an external target returns is public. */
function impliedBy(step: Step): Label {
  return step.verb === 'GET' && targetTrust(step) === 'external' ? 'public' : null
}

/** The least trusted of a list; a word that is not a label counts as `public`, so that a misspelt label protects. */
function labelIn(given: unknown): Label {
  const words = (Array.isArray(given) ? given : [given]).map((word) =>
    typeof word === 'string' ? word.trim().toLowerCase() : null,
  )
  if (words.some((word) => !labels.some((label) => label === word))) return 'public'
  return labels.find((label) => words.includes(label)) ?? null
}

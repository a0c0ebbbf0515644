// The texts inside a value with the labels of their authors: strings, numbers and keys.
import type { JsonMap, Step } from '@svc/schemas'
import { labelOfText, memberOf, type Placed, placed } from './label-paths.js'
import { type Label, lessTrusted, type StepLabels } from './labels.js'

/** A text, or a number as JSON writes it. */
export interface Leaf {
  readonly text: string
  readonly is_number: boolean
  /** The name of a member. */
  readonly is_key?: boolean
}

type Visit = (leaf: Leaf, label: Label) => boolean

/**
 * True when `visit` returns true for a string, a number or a key inside the value, in no particular order. A key has the
 * label of the map that it is in. It is not recursive, because the depth of a value is unlimited.
 */
export function someLeaf(value: unknown, labels: StepLabels, visit: Visit): boolean {
  const pending: Place[] = [
    { value, own: placed(labels), limit: labels.limit === undefined ? null : placed(labels.limit) },
  ]
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { value: item, own, limit } = place
    const label = limit === null ? own.label : lessTrusted(own.label, limit.label)
    if (typeof item === 'string') {
      if (visit({ text: item, is_number: false }, lessTrusted(label, labelOfText(own)))) return true
    } else if (typeof item === 'number') {
      if (visit({ text: String(item), is_number: true }, label)) return true
    } else if (typeof item === 'object' && item !== null) {
      for (const key of Object.keys(item)) {
        if (!Array.isArray(item) && visit({ text: key, is_number: false, is_key: true }, label)) return true
        const member = (item as JsonMap)[key]
        const isElement = Array.isArray(item)
        pending.push({
          value: member,
          own: memberOf(own, key, isElement),
          limit: limit && memberOf(limit, key, isElement),
        })
      }
    }
  }
  return false
}

/** A part of a value, with the labels that the step gives it and those that limit them. */
interface Place {
  readonly value: unknown
  readonly own: Placed
  readonly limit: Placed | null
}

const withoutLabels: StepLabels = { whole: null, fields: [] }

/** The same for what a step sent, which has no labels. */
export function someSentLeaf(value: unknown, visit: (leaf: Leaf) => boolean): boolean {
  return someLeaf(value, withoutLabels, visit)
}

/**
 * The values that a step received: its output; for a received message and the start of a task also the input, to which clients
 * write the text that they received.
 */
export function someReceivedLeaf(step: Step, type: string, labels: StepLabels, visit: Visit): boolean {
  if (someLeaf(step.output, labels, visit)) return true
  const receives = type === 'task.start' || (type === 'step.message' && step.verb === 'GET')
  return receives && someLeaf(step.input, { whole: labels.whole, fields: labels.fields }, visit)
}

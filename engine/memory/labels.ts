// The labels of what an agent reads from its memory, and what a write changes there (docs/design/engine.md §1, memory).
import type { JsonMap, Step } from '@svc/schemas'
import {
  type LabelledField,
  type Labels,
  leastTrusted,
  lessTrusted,
  memoryLabelsIn,
  memoryMember,
  type OthersLabel,
  statedLabels,
} from '../rules/taint/labels.js'
import type { MemoryUse } from './use.js'

/** The author of a text with a digest: `own` without content of others before it. */
export type MemoryLabel = OthersLabel | 'own'

/** The known facts about the memory of one agent. */
export interface AgentMemory {
  readonly labelOf: (digest: string) => MemoryLabel | undefined
  /** The least trusted label of others; null when nothing of others was written. */
  readonly worst: OthersLabel | null
  /** True once the memory holds more than is kept: all of it then counts as content of others. */
  readonly overflow: boolean
}

/** New labels by digest, null for a digest that is not kept any more; or the memory holds more than can be followed. */
export type MemoryChanges = ReadonlyMap<string, MemoryLabel | null> | 'overflow'

/** Parts of one output that get their own label; with more of them, the whole output gets it. */
const maxParts = 1000

/** The labels of a step that reads; null without content of others. `happened`: the output is known, if it was sent. */
export function labelsRead(use: MemoryUse, memory: AgentMemory, happened: boolean): Labels | null {
  const { worst, overflow } = memory
  if (overflow) return use.reads || use.has_output ? { whole: 'public', fields: [] } : null
  if (worst === null) return null
  const named = use.reads ? othersAmong(use.names, memory) : null
  const isUnknown = use.reads_more || (happened && use.reads && !use.has_output && !isOwn(use, memory))
  const whole: Labels['whole'] = isUnknown ? lessTrusted(named, worst) : named
  const fields: LabelledField[] = use.parts.flatMap(({ path, digests }) => {
    const label = othersAmong(digests, memory)
    return label === null ? [] : [{ path, label }]
  })
  if (whole === null && fields.length === 0) return null
  if (fields.length <= maxParts && fields.every(({ path }) => path.length > 0)) return { whole, fields }
  return oneLabel({ whole, fields })
}

function others(label: LabelledField['label']): OthersLabel | null {
  return label === 'own' ? null : label
}

function othersAmong(digests: Iterable<string>, { labelOf }: AgentMemory): OthersLabel | null {
  let least: OthersLabel | null = null
  for (const digest of digests) least = lessTrusted(least, others(labelOf(digest) ?? null))
  return least
}

/** True if the step names an item, and nothing of others was written under the name. */
function isOwn({ names }: MemoryUse, { labelOf }: AgentMemory): boolean {
  return names.length > 0 && names.every((name) => labelOf(name) === 'own')
}

/**
 * The changes by a recorded step; `received` is the label of the content of others that its task has received. A name has the
 * least trusted label of its writes until it is deleted. A text that was written first without content of others stays the
 * agent's own, and otherwise it stays content of others: a copy may remain under another name.
 */
export function changesBy(use: MemoryUse, received: OthersLabel | null, memory: AgentMemory): MemoryChanges {
  const changes = new Map<string, MemoryLabel | null>()
  if (use.deletes) for (const name of use.names) if (memory.labelOf(name) !== undefined) changes.set(name, null)
  if (!use.writes) return changes
  if (use.writes_more && received !== null) return 'overflow'
  const ofNames = lessTrusted(received, othersAmong(use.names, memory))
  for (const name of use.names) {
    const label = ofNames ?? 'own'
    if (memory.labelOf(name) !== label) changes.set(name, label)
  }
  for (const digest of use.written) {
    const known = memory.labelOf(digest)
    const label = known === undefined ? (received ?? 'own') : known === 'own' ? 'own' : lessTrusted(known, received)
    if (known !== label && !changes.has(digest)) changes.set(digest, label)
  }
  return changes
}

/** The step with the labels that its memory gives; without labels, what the agent sent in their place is removed. */
export function withMemoryLabels<S extends Pick<Step, 'meta'>>(step: S, labels: Labels | null): S {
  if (labels === null && step.meta?.[memoryMember] === undefined) return step
  const { [memoryMember]: _, ...sent }: JsonMap = step.meta ?? {}
  return { ...step, meta: labels === null ? sent : { ...sent, [memoryMember]: statedLabels(labels) } }
}

/** The same for labels as they were stated before; null for a step that has none. */
export function withStatedLabels<S extends Pick<Step, 'meta'>>(step: S, stated: JsonMap | null): S {
  return withMemoryLabels(step, stated === null ? null : memoryLabelsIn({ [memoryMember]: stated }))
}

/** The step with one label for its whole output: the paths of parts hold keys of the output. */
export function withOneMemoryLabel<S extends Pick<Step, 'meta'>>(step: S): S {
  const labels = memoryLabelsIn(step.meta)
  if (labels === null || labels.fields.length === 0) return step
  return withMemoryLabels(step, oneLabel(labels))
}

/** The labels as one for everything. */
export function oneLabel({ whole, fields }: Labels): Labels {
  return { whole: leastTrusted([whole, ...fields.map(({ label }) => label)]), fields: [] }
}

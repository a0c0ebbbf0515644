// Reads and writes of a step in the memory of its agent, as digests.
import { canonicalType, type JsonMap, type Step } from '@svc/schemas'
import { type Digest, marksToKeep, nameMark, namesInLines, textMarks } from './marks.js'

export interface MemoryUse {
  readonly reads: boolean
  readonly writes: boolean
  readonly deletes: boolean
  /** Names of the item in the input; a write also has those that its output gives. */
  readonly names: readonly string[]
  readonly written: readonly string[]
  readonly parts: readonly PartRead[]
  readonly has_output: boolean
  /** The step writes, or reads, more text than is followed. */
  readonly writes_more: boolean
  readonly reads_more: boolean
}

/** A part of the output that gets one label: a map in a list or with a name, else a single text or number. */
export interface PartRead {
  readonly path: readonly string[]
  /** Of everything in the part, names included. */
  readonly digests: ReadonlySet<string>
}

/** Marks of what one step reads or writes, and characters of it: about 20,000 words, and 100 ms. */
const limits = { marks: 20_000, characters: 200_000 }
/** The cost of a text beside its characters. */
const leafCost = 20

/** True if the step is about the memory of its agent. */
export function isOfMemory(step: Pick<Step, 'step_type'>): boolean {
  return canonicalType(step.step_type) === 'step.self'
}

/** The step must be of the memory. Without a verb, it may both read and write. */
export function memoryUseOf(step: Step, digest: Digest): MemoryUse {
  const { verb, input, output, properties } = step
  const writes = verb === 'POST' || verb === 'PATCH' || verb === undefined
  const budget: Budget = { ...limits, known: new Map(), digest }
  const names = [...namesOf(input), ...targetOf(properties), ...(writes ? namesOf(output) : [])]
  const marks = new Set<string>()
  if (writes)
    for (const { text, is_key } of leavesOf(input, budget)) for (const mark of textMarks(text, is_key)) marks.add(mark)
  const written = digestsOf(marksToKeep(marks, names.length > 0), budget)
  const others = { ...budget, ...limits }
  return {
    reads: verb === 'GET' || verb === undefined,
    writes,
    deletes: verb === 'DELETE',
    names: digestsOf(names.map(nameMark), others),
    written,
    parts: partsOf(output, others),
    has_output: output !== undefined,
    writes_more: isExceeded(budget),
    reads_more: isExceeded(others),
  }
}

interface Budget {
  marks: number
  characters: number
  readonly known: Map<string, string>
  readonly digest: Digest
}

function isExceeded({ marks, characters }: Budget): boolean {
  return marks < 0 || characters < 0
}

function digestsOf(marks: Iterable<string | null>, budget: Budget): string[] {
  const digests: string[] = []
  for (const mark of marks) {
    if (mark === null) continue
    const known = budget.known.get(mark)
    if (known === undefined && --budget.marks < 0) return digests
    const made = known ?? budget.digest(mark)
    budget.known.set(mark, made)
    digests.push(made)
  }
  return digests
}

/** Fields that name an item of a memory, such as `key`, `title`, `note_id` and `filePath`. */
const naming =
  /^((new|old|source|target)[_-]?)?((note|memory|item|entry|record|fact|document|doc|file|block|page)[_-]?)?(ids?|keys?|names?|titles?|paths?|file|filename|slug|topic|uri)$/i

function isNaming(field: string): boolean {
  return naming.test(field)
}

/** The names that a payload gives its item, at the top or in one map below. */
function namesOf(payload: unknown): string[] {
  return Object.entries(mapOf(payload)).flatMap(([field, value]) => {
    if (isNaming(field)) return scalarsOf(value)
    return Object.entries(mapOf(value)).flatMap(([inner, one]) => (isNaming(inner) ? scalarsOf(one) : []))
  })
}

/** The file or path of the step. */
function targetOf(properties: JsonMap | undefined): string[] {
  return [...namesOf(mapOf(properties).target), ...scalarsOf(properties?.['target.path'])]
}

function mapOf(value: unknown): JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMap) : {}
}

function scalarsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' ? [String(one)] : [],
  )
}

/** A text, a number or a key in a value. */
interface MemoryLeaf {
  readonly text: string
  readonly is_key: boolean
  /** The field that holds it. */
  readonly field: string
  /** The part that it belongs to. */
  readonly part: readonly string[]
}

/** The leaves that the budget allows. */
function leavesOf(value: unknown, budget: Budget): MemoryLeaf[] {
  const leaves: MemoryLeaf[] = []
  const add = (leaf: MemoryLeaf) => {
    budget.characters -= leaf.text.length + leafCost
    if (budget.characters >= 0) leaves.push(leaf)
  }
  const pending: Place[] = [{ value, path: [], item: null }]
  for (let place = pending.pop(); place !== undefined && budget.characters >= 0; place = pending.pop()) {
    const { value: one, path } = place
    const part = place.item ?? path
    if (typeof one === 'string' || typeof one === 'number') {
      add({ text: String(one), is_key: false, field: path.at(-1) ?? '', part })
    } else if (typeof one === 'object' && one !== null) {
      const item = Array.isArray(one) ? null : (place.item ?? (Object.keys(one).some(isNaming) ? path : null))
      for (const [key, member] of Object.entries(one)) {
        const next = { value: member as unknown, path: [...path, key], item: item ?? itemOf(place, key, member) }
        if (!Array.isArray(one)) add({ text: key, is_key: true, field: '', part: next.item ?? next.path })
        pending.push(next)
      }
    }
  }
  return leaves
}

interface Place {
  readonly value: unknown
  readonly path: readonly string[]
  /** The innermost map that is an item: in a list, or with a name. */
  readonly item: readonly string[] | null
}

function itemOf({ value, path, item }: Place, key: string, member: unknown): Place['item'] {
  const is_item = Array.isArray(value) && typeof member === 'object' && member !== null
  return is_item ? [...path, key] : item
}

function partsOf(output: unknown, budget: Budget): PartRead[] {
  const parts = new Map<string, { readonly path: readonly string[]; readonly digests: Set<string> }>()
  for (const leaf of leavesOf(output, budget)) {
    const id = JSON.stringify(leaf.part)
    const part = parts.get(id) ?? { path: leaf.part, digests: new Set<string>() }
    parts.set(id, part)
    const isName = leaf.is_key || isNaming(leaf.field)
    const names = [...(isName ? [leaf.text] : []), ...(leaf.is_key ? [] : namesInLines(leaf.text))]
    for (const one of digestsOf([...textMarks(leaf.text, leaf.is_key), ...names.map(nameMark)], budget))
      part.digests.add(one)
  }
  return [...parts.values()]
}

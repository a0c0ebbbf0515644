// YAML that two parsers could read differently, or that is expensive to read.
import type { Document, Node, Scalar, YAMLMap } from 'yaml'
import { quote } from '../../check/quote.js'
import { type FindingId, severityOf } from '../../findings/kinds.js'
import { prototypeKeys } from '../../rules/values/members.js'
import { maxAliases } from './bounded-yaml.js'
import type { Fault } from './fault-context.js'
import { nodesOf } from './tree.js'
import { yaml } from './yaml.js'

type Note = (node: unknown, id: FindingId, message: string) => void

const plainTag = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/
/** Each key and each item can have an error, which must be located in the text. */
const maxKeys = 1000
const maxItems = 10_000
/** A hostile file could have one hazard per character. */
const maxHazards = 100

export interface Hazards {
  readonly rejected: readonly Fault[]
  /** Parts that are accepted and probably not intended. */
  readonly remarks: readonly Fault[]
}

/** The parts of a document that are valid YAML and rejected, in the order of the text, and remarks; at most 100 of each. */
export function hazards(document: Document.Parsed): Hazards {
  const { isAlias, isScalar } = yaml()
  const found: Fault[] = []
  const remarks: Fault[] = []
  const note: Note = (node, id, message) => {
    const list = severityOf(id) === 'error' ? found : remarks
    list.push({ id, message, offset: (node as Node | null)?.range?.[0] ?? 0 })
  }
  const anchors = new Set<string>()
  /** Scalars with an anchor that no alias has named yet. */
  const unused = new Map<string, Node>()
  let named = 0
  for (const node of nodesOf(document.contents)) {
    if (found.length >= maxHazards) break
    if (isAlias(node) && !anchors.has(node.source)) note(node, 'yaml-anchor', unknownAlias(node.source))
    if (!isAlias(node) && node.anchor !== undefined) {
      anchors.add(node.anchor)
      if (isScalar(node)) unused.set(node.anchor, node)
    }
    if (isAlias(node)) unused.delete(node.source)
    if (isAlias(node) || node.anchor !== undefined) named++
    if (named > maxAliases) {
      note(node, 'over-limit', `more than ${maxAliases} anchors and aliases: write the repeated parts out`)
      break
    }
    noteNode(node, note)
  }
  for (const [name, node] of unused) note(node, 'unused-anchor', unusedAnchor(name))
  return { rejected: found.slice(0, maxHazards), remarks: remarks.slice(0, maxHazards) }
}

function noteNode(node: Node, note: Note): void {
  const { isMap, isScalar, isSeq } = yaml()
  if ('tag' in node && node.tag !== undefined && !plainTag.test(node.tag))
    note(node, 'yaml-tag', `the tag ${quote(node.tag)} is not allowed: remove it`)
  if (isMap(node) && node.items.length > maxKeys)
    note(node, 'over-limit', `more than ${maxKeys} keys in one map: split it`)
  else if (isMap(node)) noteKeys(node, note)
  if (isSeq(node) && node.items.length > maxItems)
    note(node, 'over-limit', `more than ${maxItems} items in one list: split it`)
  if (isScalar(node)) noteScalar(node, note)
}

function unusedAnchor(name: string): string {
  return `${quote(`&${name}`)} names the value, and nothing repeats it: put a text that begins with \`&\` in quotes`
}

function unknownAlias(name: string): string {
  return `the alias ${quote(`*${name}`)} has no anchor before it: put a text that begins with \`*\` in quotes`
}

function noteKeys(map: YAMLMap, note: Note): void {
  const { isScalar } = yaml()
  const repeated = repeatedKeys(map)
  const [first] = repeated
  // Several repeated keys are the keys of two items: a dash is missing.
  if (first !== undefined && repeated.length > 1) {
    const names = repeated.map(({ key }) => quote(String((key as Scalar).value))).join(', ')
    const line = quote(`- ${(first.key as Scalar).value}: …`)
    note(
      first.key,
      'yaml-duplicate-key',
      `the keys ${names} are written twice: to begin another item here, write ${line}; else remove one of each`,
    )
  }
  for (const item of map.items) {
    const { key } = item
    if (!isScalar(key) || typeof key.value !== 'string') {
      note(key, 'yaml-key', map.flow === true && item.value === null ? commaInside : keyWords(key))
      continue
    }
    const name = key.value
    if (name === '<<') note(key, 'yaml-anchor', 'the merge key `<<` is not allowed: write the keys out')
    else if (prototypeKeys.has(name)) note(key, 'yaml-key', `the key ${quote(name)} is not allowed: use another name`)
    else if (repeated.length === 1 && item === first)
      note(key, 'yaml-duplicate-key', `the key ${quote(name)} is written twice: remove one of them`)
  }
}

const commaInside = 'a comma separates the entries of `{ … }`: write a decimal point, or put the value in quotes'

function keyWords(key: unknown): string {
  const { isScalar } = yaml()
  return `a key must be text${isScalar(key) && key.source ? `: write ${quote(`"${key.source}"`)}` : ''}`
}

/** The pairs whose key is in the map before. */
function repeatedKeys(map: YAMLMap): YAMLMap['items'] {
  const { isScalar } = yaml()
  const seen = new Set<unknown>()
  return map.items.filter(({ key }) => {
    const name = isScalar(key) ? key.value : key
    const isRepeated = typeof name === 'string' && seen.has(name)
    seen.add(name)
    return isRepeated
  })
}

function noteScalar(node: Scalar, note: Note): void {
  const { value, source = '' } = node
  if (typeof value === 'string' && !value.isWellFormed())
    note(node, 'yaml-character', 'a lone surrogate, which is not valid text: remove it')
  if (typeof value === 'string' && /^[“„‘‚«].*[”“’‘»]$/su.test(source))
    note(node, 'curly-quotes', 'the value is in curly quotes, which are part of the text: write straight quotes')
  if (node.type === 'PLAIN' && /^[^\s!-]/.test(node.comment ?? ''))
    note(
      node,
      'lost-comment',
      `${quote(`#${node.comment}`)} is a comment and no part of the value: put the value in quotes`,
    )
  if (typeof value === 'string' && value.includes('\0'))
    note(node, 'yaml-character', 'a NUL character, which is not allowed: remove it')
  else if (typeof value === 'string' && node.type === 'QUOTE_DOUBLE' && value.includes('\b'))
    note(node, 'yaml-quote', '`\\b` in double quotes is a control character, not a word boundary: use single quotes')
  if (typeof value !== 'number') return
  if (/^\d{1,3}(\.000)+$/.test(source))
    note(
      node,
      'lost-thousands',
      `${quote(source)} is the number ${value}: write ${source.replaceAll('.', '')} if thousands are meant`,
    )
  if (!Number.isFinite(value))
    note(node, 'yaml-number', `the number ${quote(source)} is not finite: write a number, or put it in quotes`)
  else if (/^([-+]?\d+|0x[\da-f]+|0o[0-7]+)$/i.test(source) && !Number.isSafeInteger(value)) {
    note(node, 'yaml-number', `the integer ${quote(source)} is beyond 2^53-1: put it in quotes`)
  }
}

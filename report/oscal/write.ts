// An assembly as an element of XML and as OSCAL's JSON, by its shape. Rows of long lists are written one after the other, so that
// a large report needs little more memory than its text.
import type { Assembly, Field, Shape } from './shape.js'
import { encodeText } from './text.js'
import type { XmlElement } from './xml-text.js'

type Value = Assembly[string]

/** The element of an assembly; text is not encoded yet. */
export function elementOf(name: string, shape: Shape, value: Assembly): XmlElement {
  const attributes: Record<string, string> = {}
  const elements: Field[] = []
  for (const field of shape) {
    if (!isGiven(value[field.key])) continue
    if (field.kind === 'attribute') attributes[field.name] = value[field.key] as string
    else elements.push(field)
  }
  const children = () => childrenOf(elements, value)
  return { name, attributes, children: { [Symbol.iterator]: children }, isLong: shape.some(isLong) }
}

function* childrenOf(fields: readonly Field[], value: Assembly): Generator<XmlElement | string> {
  for (const field of fields) yield* fieldElements(field, value[field.key])
}

function fieldElements(field: Field, value: Value): Iterable<XmlElement | string> {
  const { kind, name } = field
  if (kind === 'own') return [value as string]
  if (kind === 'text' || kind === 'line') return [leaf(name, value as string)]
  if (kind === 'texts') return (value as readonly string[]).map((one) => leaf(name, one))
  if (kind === 'one') return [elementOf(name, field.shape, value as Assembly)]
  if (kind === 'many') return mapped(value as Iterable<Assembly>, (one) => elementOf(name, field.shape, one))
  return [{ name, attributes: {}, children: (value as readonly string[]).map((paragraph) => leaf('p', paragraph)) }]
}

const leaf = (name: string, child: string): XmlElement => ({ name, attributes: {}, children: [child] })

/**
 * The text of the object of an assembly, in pieces: keys in the order of the shape, text encoded, markup as Markdown. `indent` is
 * the line break and the spaces of the line that the object begins on; an object of strings only is written on one line.
 */
export function* jsonPieces(shape: Shape, value: Assembly, indent: string): Generator<string> {
  const given = shape.filter(({ key }) => isGiven(value[key]))
  const isShort = given.every(isString)
  const [gap, end] = isShort ? ['', ''] : [`${indent} `, indent]
  let before = `{${gap}`
  for (const field of given) {
    yield `${before}${JSON.stringify(field.key)}: `
    yield* jsonValue(field, value[field.key], gap)
    before = isShort ? ', ' : `,${gap}`
  }
  yield given.length === 0 ? '{}' : `${end}}`
}

function* jsonValue(field: Field, value: Value, indent: string): Generator<string> {
  const { kind } = field
  if (kind === 'one') yield* jsonPieces(field.shape, value as Assembly, indent)
  else if (kind === 'many') yield* jsonList(field, value as Iterable<Assembly>, indent)
  else if (kind === 'texts') yield JSON.stringify((value as readonly string[]).map(encodeText))
  else if (kind === 'line') yield JSON.stringify(markdown(value as string))
  else if (kind === 'block') yield JSON.stringify((value as readonly string[]).map(markdown).join('\n\n'))
  else yield JSON.stringify(encodeText(value as string))
}

function* jsonList({ shape }: Field & { readonly shape: Shape }, items: Iterable<Assembly>, indent: string) {
  let before = `[${indent} `
  for (const item of items) {
    yield [before, ...jsonPieces(shape, item, `${indent} `)].join('')
    before = `,${indent} `
  }
  yield `${indent}]`
}

const isString = ({ kind }: Field) => kind === 'attribute' || kind === 'text' || kind === 'line' || kind === 'own'

/** Plain text as Markdown that shows it: every character with a meaning gets a backslash. */
function markdown(text: string): string {
  return encodeText(text)
    .replace(/[\\`*_{}[\]<>#&~|!^"$]/g, '\\$&')
    .replace(/^(?:[-+=]|(\d+)(?=[.)]))/, (start, number: string | undefined) => (number ? `${number}\\` : `\\${start}`))
}

const isGiven = (value: Value) => value !== undefined && !(Array.isArray(value) && value.length === 0)

/** A list of rows, or a part that has one. */
const isLong = (field: Field): boolean =>
  (field.kind === 'one' || field.kind === 'many') && (field.isLong === true || field.shape.some(isLong))

function* mapped<T, U>(items: Iterable<T>, change: (item: T) => U): Generator<U> {
  for (const item of items) yield change(item)
}

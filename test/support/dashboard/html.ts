// The pages as a strict reader sees them: elements, attributes, texts and forms. A text that breaks out of its place fails to parse.

export interface Element {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  /** The text from its start tag to the next tag. */
  readonly text: string
  readonly isEnd: boolean
}

const tag = /<(\/?)([a-zA-Z][a-zA-Z0-9-]*)((?:\s+[a-zA-Z][a-zA-Z0-9:_-]*(?:="[^"<>]*")?)*)\s*(\/?)>/y
const attribute = /([a-zA-Z][a-zA-Z0-9:_-]*)(?:="([^"]*)")?/g

/** Throws for a `<` that starts no tag of the templates, such as one of a text that was not escaped. */
export function elementsOf(html: string): Element[] {
  const found: Element[] = []
  let at = html.indexOf('<', html.startsWith('<!doctype html>') ? 1 : 0)
  while (at >= 0) {
    tag.lastIndex = at
    const match = tag.exec(html)
    if (match === null) throw new Error(`not a tag of a template: ${html.slice(at, at + 200)}`)
    const next = html.indexOf('<', tag.lastIndex)
    const pairs = [...(match[3] ?? '').matchAll(attribute)]
    found.push({
      name: match[2] ?? '',
      attributes: new Map(pairs.map(([, name = '', value = '']) => [name, decoded(value)])),
      text: decoded(html.slice(tag.lastIndex, next < 0 ? undefined : next)),
      isEnd: match[1] === '/',
    })
    at = next
  }
  return found
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

function decoded(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[name] ?? whole
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}

/** The text that a reader of the page sees. */
export function textOf(html: string): string {
  return elementsOf(html)
    .map(({ text }) => text)
    .join('')
}

export interface Button {
  readonly act: string
  readonly label: string
  /** The values of its form, filled as a person would: required fields have values, boxes are ticked. */
  readonly fields: readonly (readonly [name: string, value: string])[]
}

const samples: Readonly<Record<string, string>> = { number: '1', date: '2026-01-05', email: 'x@example.org' }

/** The buttons that send an act, with the fields of their forms. */
export function buttonsOf(html: string): Button[] {
  const elements = elementsOf(html)
  const found: Button[] = []
  let isPosted = false
  let fields: [string, string][] = []
  let acts: { act: string; label: string; own: [string, string][] }[] = []
  let choice: { name: string; values: string[]; chosen: string | null } | null = null
  for (const { name, attributes, text, isEnd } of elements) {
    const value = attributes.get('value') ?? ''
    const field = attributes.get('name') ?? ''
    if (name === 'form' && !isEnd) {
      isPosted = attributes.get('method') === 'post' && attributes.get('action') !== '/theme'
      fields = []
      acts = []
    } else if (name === 'form') {
      for (const { act, label, own } of acts) found.push({ act, label, fields: [...fields, ...own] })
      isPosted = false
      acts = []
    } else if (!isPosted) continue
    else if (name === 'button' && field === 'act') acts.push({ act: value, label: text.trim(), own: [['act', value]] })
    else if (name === 'select' && !isEnd) choice = { name: field, values: [], chosen: null }
    else if (name === 'option' && !isEnd && choice !== null) {
      choice.values.push(value)
      if (attributes.has('selected')) choice.chosen = value
    } else if (name === 'select' && choice !== null) {
      fields.push([choice.name, choice.chosen ?? choice.values[0] ?? ''])
      choice = null
    } else if (name === 'textarea' && !isEnd)
      fields.push([field, text === '' && attributes.has('required') ? 'text' : text])
    else if (name === 'input') fields.push(...inputOf(attributes, fields))
  }
  return found
}

function inputOf(attributes: ReadonlyMap<string, string>, before: readonly (readonly [string, string])[]) {
  const type = attributes.get('type') ?? 'text'
  const name = attributes.get('name') ?? ''
  const value = attributes.get('value') ?? ''
  if (name === '') return []
  if (type === 'radio' && before.some(([known]) => known === name)) return []
  if (type === 'hidden' || value !== '' || !attributes.has('required')) return [[name, value]] as [string, string][]
  return [[name, attributes.get('min') ?? samples[type] ?? 'text']] as [string, string][]
}

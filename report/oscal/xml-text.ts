// The door to xml-js, which writes raw `&` and `<` in attributes, takes `&amp;` in text for `&`, and knows no forbidden characters.
import { type Element, js2xml } from 'xml-js'
import { encodeText } from './text.js'

export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** A string is text. */
  readonly children: Iterable<XmlElement | string>
  /** Its children are elements, and so many that each is written and forgotten before the next is read. */
  readonly isLong?: boolean
}

const xmlName = /^[A-Za-z_][A-Za-z0-9_.-]*$/

/**
 * The document with this root, indented, as XML 1.0 in UTF-8. Every attribute value and every text is written by `encodeText`.
 * Throws a TypeError for a name that XML or a namespace forbids: names are never data.
 */
export function writeXml(root: XmlElement): string {
  const declaration = js2xml({ declaration: { attributes: { version: '1.0', encoding: 'UTF-8' } } })
  return `${[declaration, ...piecesOf(root, '\n')].join('')}\n`
}

/** The text of an element in pieces; `indent` begins each of its lines. No text or attribute holds a line break of its own. */
function* piecesOf(element: XmlElement, indent: string): Generator<string> {
  const { isLong, name, children } = element
  if (isLong !== true) {
    yield indent + js2xml({ elements: [elementOf(element)] }, { spaces: 1 }).replaceAll('\n', indent)
    return
  }
  const end = `</${name}>`
  const both = js2xml({ elements: [elementOf({ ...element, children: [] })] }, { fullTagEmptyElement: true })
  yield indent + both.slice(0, -end.length)
  for (const child of children) {
    if (typeof child === 'string') throw new TypeError('a long element must have elements only')
    yield* piecesOf(child, `${indent} `)
  }
  yield indent + end
}

function elementOf({ name, attributes, children }: XmlElement): Element {
  assertName(name)
  const written: Record<string, string> = {}
  for (const [key, value] of Object.entries(attributes)) {
    assertName(key)
    written[key] = escapeAttribute(encodeText(value))
  }
  const elements = Array.from(children, (child) =>
    typeof child === 'string' ? { type: 'text', text: escapeAmpersand(encodeText(child)) } : elementOf(child),
  )
  return { type: 'element', name, attributes: written, elements }
}

/** xml-js escapes the quotation marks of attributes, and nothing else. */
function escapeAttribute(text: string): string {
  return escapeAmpersand(text).replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** In text, xml-js reads `&amp;` as `&` before it escapes: an ampersand that is escaped once more comes out as it is. */
function escapeAmpersand(text: string): string {
  return text.replaceAll('&', '&amp;')
}

function assertName(name: string): void {
  if (!xmlName.test(name))
    throw new TypeError('a name of an element or attribute must be a name of XML without a colon')
}

// Parts of a page in Markdown: messages, tables, and lists of limited size.
import { markdownCode, markdownText } from './markdown.js'

/** A longer text says no more to a reader. */
const maxText = 1000

/** A message whose values are in backticks. */
export function messageMarkdown(message: string): string {
  const parts = shortened(message).split(/`([^`]*)`/)
  return parts.map((part, index) => (index % 2 === 1 ? markdownCode(part) : wordsBeside(part))).join('')
}

/** The space between a value and the words beside it stays. */
function wordsBeside(text: string): string {
  const words = markdownText(text)
  if (words === '') return text === '' ? '' : ' '
  return `${/^\s/.test(text) ? ' ' : ''}${words}${/\s$/.test(text) ? ' ' : ''}`
}

/** The beginning of a text from outside. */
export function shortened(text: string, max = maxText): string {
  return text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text
}

/** A name from outside, in bold. */
export function boldName(name: string): string {
  return `**${markdownText(shortened(name, 120)) || '(no name)'}**`
}

/** A row of a table. The cells are Markdown. */
export function row(...cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** A table with these heads and rows. */
export function table(heads: readonly string[], rows: readonly string[]): string {
  return [row(...heads), row(...heads.map(() => '---')), ...rows].join('\n')
}

/** The first texts that fit, and how many there are more. */
export function limited(texts: readonly string[], maxBytes: number): { texts: readonly string[]; more: number } {
  let size = 0
  const end = texts.findIndex((text) => {
    size += Buffer.byteLength(text) + 1
    return size > maxBytes
  })
  return end < 0 ? { texts, more: 0 } : { texts: texts.slice(0, end), more: texts.length - end }
}

/** A place in a file, as a link where files have addresses, such as `https://…/blob/<commit>`. */
export function placeMarkdown(file: string, line: number | null, address: string | null): string {
  const text = markdownCode(line === null ? file : `${file}:${line}`)
  if (address === null || line === null) return text
  const path = file.split('/').map((part) => encodeURIComponent(part.toWellFormed()).replace(/[!'()*~_]/g, percent))
  return `[${text}](${address}/${path.join('/')}#L${line})`
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

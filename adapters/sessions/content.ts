// Contents of transcripts as steps keep them: texts as they are, images by their digest.

import { createHash } from 'node:crypto'
import { depthOf, maxValueDepth } from '@svc/engine/parts'
import { isMap, parseJson } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'

/** Blocks of text alone as one text; other blocks as a list, each image by its digest. */
export function contentOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? null
  const texts = content.map(textOfBlock)
  if (texts.length > 0 && texts.every((text) => text !== null)) return texts.join('\n')
  return content.map(blockOf)
}

const textTypes: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text', undefined])

export function textOfBlock(block: unknown): string | null {
  if (typeof block === 'string') return block
  return isMap(block) && textTypes.has(block.type) && typeof block.text === 'string' ? block.text : null
}

/** The blocks of a content; text alone is one block. */
export function blocksOf(content: unknown): JsonMap[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content)
    ? content.map((block) => (isMap(block) ? block : { type: 'text', text: textOf(block) }))
    : []
}

/** A block with its data replaced by their size and digest: an image has megabytes, and rules cannot read it. */
export function blockOf(block: unknown): unknown {
  if (!isMap(block)) return block
  const { source, image_url, data, ...others } = block
  if (isMap(source) && typeof source.data === 'string')
    return { ...others, source: { ...source, data: digestOf(source.data) } }
  if (typeof image_url === 'string' && image_url.startsWith('data:'))
    return { ...others, image_url: { media_type: mediaType(image_url), data: digestOf(afterComma(image_url)) } }
  if (typeof data === 'string' && block.type === 'image') return { ...others, data: digestOf(data) }
  return block
}

function digestOf(base64: string): JsonMap {
  const bytes = Buffer.from(base64, 'base64')
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

function mediaType(url: string): string {
  return url.slice('data:'.length, Math.max(0, url.search(/[;,]/)))
}

function afterComma(url: string): string {
  return url.slice(url.indexOf(',') + 1)
}

/** Names of steps have at most so many characters. */
const maxNameLength = 1000

/** The name of a tool or a kind; empty for another value. */
export function nameOf(value: unknown): string {
  return textOf(value).slice(0, maxNameLength)
}

/** A text as it is, a number as text; empty for another value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** Parses a line as a program wrote it; undefined when it is not JSON. What evidence cannot hold is replaced. */
export function lenientValue(text: string): unknown {
  try {
    return cleaned(parseJson(text), 0)
  } catch {
    return undefined
  }
}

function isFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value)
}

/** Programs cut texts between the halves of a character, and write numbers that a double does not hold exactly. */
function cleaned(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') return Number.isSafeInteger(value) || isFraction(value) ? value : String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxValueDepth && depthOf(value) > 0) return JSON.stringify(value).toWellFormed()
  if (Array.isArray(value)) return value.map((item) => cleaned(item, depth + 1))
  const members = Object.entries(value).map(([name, member]) => [name.toWellFormed(), cleaned(member, depth + 1)])
  return Object.fromEntries(members) as unknown
}

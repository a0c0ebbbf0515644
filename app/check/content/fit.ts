// Parts of a page within the limit of GitHub. A page is cut at a row, never within one.
import { limited, row, table } from '@svc/engine/parts'

/** GitHub rejects a longer summary or text. Bytes: there are never fewer of them than characters. */
const maxPage = 65_535

/** Kept for what follows a cut list. */
const reserve = 300

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'rows'
      /** Before the rows, such as a heading. */
      readonly before: string
      /** The heads of a table; null for rows that are lines or paragraphs. */
      readonly heads: readonly string[] | null
      readonly rows: readonly string[]
      /** Of rows without heads: paragraphs rather than lines. */
      readonly are_paragraphs?: boolean
      /** Bytes that the rows may take. */
      readonly maxBytes: number
      /** Such as `12 more tasks.`; of rows that were left out before, too. */
      readonly more: (count: number) => string
      readonly left_out?: number
    }

/** The parts that fit, in their order. */
export function pageOf(parts: readonly Part[], maxBytes = maxPage): string {
  let left = maxBytes
  const written: string[] = []
  for (const part of parts) {
    const text = written.length > 0 ? `\n\n${textOf(part, left - 2)}` : textOf(part, left)
    const size = Buffer.byteLength(text)
    if (size > left || text.trim() === '') continue
    written.push(text)
    left -= size
  }
  return written.join('')
}

function textOf(part: Part, left: number): string {
  if (part.kind === 'text') return part.text
  const { before, heads, rows, maxBytes, more: moreWords, left_out = 0, are_paragraphs = false } = part
  const frame = Buffer.byteLength(before) + (heads === null ? 0 : Buffer.byteLength(row(...heads)) * 2) + reserve
  const gap = are_paragraphs ? 1 : 0
  const { texts, more } = limited(rows, Math.max(0, Math.min(maxBytes, left - frame) - gap * rows.length))
  const body =
    heads === null ? texts.join(are_paragraphs ? '\n\n' : '\n') : texts.length === 0 ? '' : table(heads, texts)
  const missing = more + left_out
  return [before, body, ...(missing > 0 ? [moreWords(missing)] : [])].filter((text) => text !== '').join('\n\n')
}

export function text(text: string): Part {
  return { kind: 'text', text }
}

// JSON text of a file as its value, with the place of a fault.
import { parseStrictJson } from '@svc/proof'

/** JSON text as its value, or the reason why it cannot be read (docs/design/log.md §1). */
export type ValueReading =
  | { readonly value: unknown; readonly problem: null }
  | { readonly problem: string /** The text may go on in the next line. */; readonly is_open: boolean }

/** Parses text as strict JSON; `shown` says where a fault is, by its offset in the text. */
export function readValue(
  text: string,
  shown: (text: string, offset: number) => string = columnOf,
  parse = parseStrictJson,
): ValueReading {
  const reading = parse(text)
  if (reading.problem === null) return { value: reading.value, problem: null }
  const { message, offset } = reading.problem
  const is_open = offset !== null && offset >= text.trimEnd().length
  return { problem: offset === null ? message : `${message} at ${shown(text, offset)}`, is_open }
}

function columnOf(_: string, offset: number): string {
  return `column ${offset + 1}`
}

/** The place of an offset in a text of several lines. */
export function lineAndColumnOf(text: string, offset: number): string {
  const before = text.slice(0, offset)
  return `line ${before.split('\n').length}, column ${offset - before.lastIndexOf('\n')}`
}

// The begin of a line of a trace: its kind and when it was recorded are read without parsing the line.

export interface LineHead {
  readonly kind: string
  readonly recorded_at: string
  /** The object without these two members. */
  readonly others: string
}

const head = /^\{"kind":"([a-z]+)","recorded_at":"([^"]*)",(?=")/
/** A kind has at most ten letters, a time 24 characters. */
const maxHead = 128

/** Null for bytes that are not a line of a trace, and for one that was cut off. */
export function headOf(line: Buffer): LineHead | null {
  const [begin, kind, recorded_at] = head.exec(line.toString('latin1', 0, maxHead)) ?? []
  if (begin === undefined || kind === undefined || recorded_at === undefined || line.at(-1) !== closing) return null
  return { kind, recorded_at, others: `{${line.toString('utf8', begin.length)}` }
}

const closing = 0x7d

// A large request in JSON in pieces: its spans, each as text, and what is around them. One JSON.parse of 20 MiB holds the event
// loop for half a second.
import type { Pace } from '../pace.js'

interface DividedJson {
  /** The text with a number in the place of each span: its index in `spans`. */
  readonly envelope: Buffer
  readonly spans: readonly Buffer[]
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a]
const [openMap, closeMap, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d]
/** Levels around a span, with the list of a file of requests. */
const maxLevels = 7
const path = [['resourceSpans'], null, ['scopeSpans', 'instrumentationLibrarySpans'], null, ['spans'], null]
/** Bytes between two looks at the time. */
const lookEach = 65_536

/** Null for a text whose brackets do not match. It knows strings and brackets only: the pieces are parsed next. */
export async function divideJson(pace: Pace, raw: Buffer): Promise<DividedJson | null> {
  const around: Buffer[] = []
  const spans: Buffer[] = []
  const levels: { readonly is_list: boolean; key: string }[] = []
  let depth = 0
  let [spanFrom, spanDepth, kept, look] = [-1, -1, 0, lookEach]
  let text: readonly [number, number] = [0, 0]
  for (let index = 0; index < raw.length; index++) {
    const code = raw[index]
    if (code === quote) {
      const end = endOfString(raw, index)
      if (end < 0) return null
      text = [index + 1, end]
      index = end
    } else if (code === colon) {
      const level = depth <= maxLevels && spanDepth < 0 ? levels[depth - 1] : undefined
      if (level !== undefined) level.key = raw.toString('latin1', ...text)
    } else if (code === openMap || code === openList) {
      if (spanDepth < 0 && code === openMap && isPlaceOfSpans(levels)) [spanFrom, spanDepth] = [index, depth]
      depth += 1
      if (spanDepth < 0) levels.push({ is_list: code === openList, key: '' })
    } else if (code === closeMap || code === closeList) {
      depth -= 1
      if (spanDepth < 0) levels.pop()
      if (depth === spanDepth) {
        around.push(raw.subarray(kept, spanFrom), Buffer.from(String(spans.length)))
        spans.push(raw.subarray(spanFrom, index + 1))
        kept = index + 1
        spanDepth = -1
      }
    }
    if (index > look) {
      look = index + lookEach
      await pace()
    }
  }
  return depth === 0 ? { envelope: Buffer.concat([...around, raw.subarray(kept)]), spans } : null
}

function isPlaceOfSpans(levels: readonly { readonly is_list: boolean; readonly key: string }[]): boolean {
  const own = levels[0]?.is_list ? levels.slice(1, 8) : levels
  return own.length === path.length && path.every((keys, at) => isLevel(keys, own[at] as (typeof levels)[number]))
}

function isLevel(
  keys: readonly string[] | null,
  { is_list, key }: { readonly is_list: boolean; readonly key: string },
) {
  return keys === null ? is_list : !is_list && keys.includes(key)
}

/** Offset of the closing quote; -1 without one. */
function endOfString(raw: Buffer, start: number): number {
  for (let end = raw.indexOf(quote, start + 1); end >= 0; end = raw.indexOf(quote, end + 1)) {
    let first = end
    while (raw[first - 1] === backslash) first -= 1
    if ((end - first) % 2 === 0) return end
  }
  return -1
}

// The values of a file of OTLP JSON: a document, or one on each line.
import { readLines, readOtlp, readOtlpText, type Span } from '@svc/engine/parts'
import { documentIn } from '../reading/document.js'
import type { Fault } from '../reading/reader.js'
import type { Source } from '../reading/source.js'

/** A span with its place, for messages. */
export interface PlacedSpan {
  readonly span: Span
  readonly at: Pick<Fault, 'file' | 'line' | 'entry' | 'unit'>
}

/** The spans and faults of a line or document, which is in memory as a whole. */
export interface SpanValue {
  readonly spans: readonly PlacedSpan[]
  readonly faults: readonly Fault[]
}

export async function* spanValuesIn(source: Source): AsyncGenerator<SpanValue> {
  const document = await documentIn(source.path, readOtlpText)
  if (document !== null) {
    yield spansOf(document, { file: source.name, line: null })
    return
  }
  for await (const read of readLines(source.path)) {
    const place = { file: source.name, line: read.line }
    if (read.problem !== null) yield spansOf(read, place)
    else if (read.text.trim() !== '') yield spansOf(readOtlpText(read.text), place)
  }
}

type Reading = { readonly value: unknown; readonly problem: null } | { readonly problem: string }

function spansOf(reading: Reading, place: Pick<Fault, 'file' | 'line'>): SpanValue {
  const whole = { ...place, entry: null, unit: 'run' as const }
  if (reading.problem !== null) return { spans: [], faults: [{ ...whole, reason: reading.problem }] }
  const found = readOtlp(reading.value)
  if (found === null) {
    const reason = 'is not OTLP JSON: `resourceSpans` is missing'
    return { spans: [], faults: [{ ...whole, reason, value: firstOf(reading.value) }] }
  }
  const placed = found.map((each, entry) => ({ ...each, at: { ...place, entry, unit: 'span' as const } }))
  return {
    spans: placed.flatMap((each) => (each.problem === null ? [{ span: each.span, at: each.at }] : [])),
    faults: placed.flatMap(({ problem, at }) => (problem === null ? [] : [{ ...at, reason: problem }])),
  }
}

/** The value that shows the format of a list. */
function firstOf(value: unknown): unknown {
  return Array.isArray(value) && value.length > 0 ? value[0] : value
}

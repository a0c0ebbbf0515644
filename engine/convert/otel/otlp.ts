// The spans of a value of OTLP JSON: what an exporter sends in one request, a list of such, or spans alone.
import { isMap, parseStoredJson } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import { lineAndColumnOf, readValue, type ValueReading } from '../json-value.js'
import { attributesOf } from './any-value.js'
import { readSpan, type SpanGroup, type SpanReading } from './span.js'

/** True for a value that has spans, or is one. */
export function isOtlp(value: unknown): boolean {
  if (Array.isArray(value)) return isOtlpEntry(value[0])
  return isOtlpEntry(value)
}

function isOtlpEntry(value: unknown): boolean {
  if (!isMap(value)) return false
  return Array.isArray(value.resourceSpans) || (value.spanId !== undefined && value.startTimeUnixNano !== undefined)
}

/** The spans of a value in their order, each as a span or a problem; null for a value of another kind. */
export function readOtlp(value: unknown): SpanReading[] | null {
  return spansIn(value)?.map((given) => (given.problem === null ? readSpan(given.value, given.group) : given)) ?? null
}

/** A span that is not read yet, with what it has in common with others. */
export type GivenSpan =
  | { readonly value: unknown; readonly group: SpanGroup; readonly problem: null }
  | { readonly problem: string }

/** The same before they are read. */
export function spansIn(value: unknown): GivenSpan[] | null {
  if (!Array.isArray(value)) return readEntry(value)
  return value.length > 0 && isOtlpEntry(value[0]) ? value.flatMap((entry) => readEntry(entry) ?? [notASpan]) : null
}

const none = { resource: new Map<string, unknown>(), scope: null }
const notASpan = { problem: 'is not a span' }

function readEntry(value: unknown): GivenSpan[] | null {
  if (!isMap(value) || !isOtlpEntry(value)) return null
  if (!Array.isArray(value.resourceSpans)) return [{ value, group: none, problem: null }]
  return value.resourceSpans.flatMap((group: unknown): GivenSpan[] => {
    if (!isMap(group)) return [{ problem: 'is not in an object of `resourceSpans`' }]
    const resource = isMap(group.resource) ? attributesOf(group.resource.attributes) : none.resource
    return scopesOf(group).flatMap((scope): GivenSpan[] => {
      const { spans = [] } = isMap(scope) ? scope : { spans: null }
      if (!isMap(scope) || !Array.isArray(spans)) return [{ problem: 'is not in `spans` of `scopeSpans`' }]
      const common = { resource, scope: nameOf(scope) }
      return spans.map((span: unknown) => ({ value: span, group: common, problem: null }))
    })
  })
}

function nameOf({ scope, instrumentationLibrary }: JsonMap): string | null {
  const { name } = Object(scope ?? instrumentationLibrary) as { readonly name?: unknown }
  return typeof name === 'string' && name !== '' ? name : null
}

/** Before 2022 the list had another name. */
function scopesOf({ scopeSpans, instrumentationLibrarySpans }: Record<string, unknown>): unknown[] {
  const scopes = scopeSpans ?? instrumentationLibrarySpans
  return Array.isArray(scopes) ? scopes : []
}

/** Parses JSON whose integers may be nanoseconds, which a double cannot hold: they are read as text. */
export function readOtlpText(text: string, shown?: (text: string, offset: number) => string): ValueReading {
  return readQuoted(text, (each) => readValue(each, shown))
}

/** The same for the body of a request: each level of a value is three or four levels of OTLP JSON. */
export function readOtlpBody(text: string): ValueReading {
  return readQuoted(text, (each) => readValue(each, lineAndColumnOf, parseStoredJson))
}

function readQuoted(text: string, read: (text: string) => ValueReading): ValueReading {
  const reading = read(text)
  if (reading.problem === null || reading.is_open) return reading
  const quoted = withQuotedIntegers(text)
  if (quoted === text) return reading
  const again = read(quoted)
  return again.problem === null ? again : reading
}

/** Regular expressions fail on longer ones; no time and no id has as many digits. */
const longInteger = /-?\d{16,400}(?![\d.eE])/y

/** The text with quotation marks around integers of 16 digits and more that are no part of a string. */
function withQuotedIntegers(text: string): string {
  const parts: string[] = []
  let from = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '"') index = endOfString(text, index)
    else if (character === '-' || (character !== undefined && character >= '0' && character <= '9')) {
      const matcher = new RegExp(longInteger)
      matcher.lastIndex = index
      const [literal] = matcher.exec(text) ?? []
      if (literal !== undefined) {
        parts.push(text.slice(from, index), '"', literal, '"')
        from = index + literal.length
      }
      index = endOfNumber(text, index) - 1
    }
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

function endOfString(text: string, start: number): number {
  let index = start + 1
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1
  return index
}

const numberCharacters: ReadonlySet<number> = new Set(Buffer.from('0123456789.eE+-'))

function endOfNumber(text: string, start: number): number {
  let index = start + 1
  while (index < text.length && numberCharacters.has(text.charCodeAt(index))) index++
  return index
}

// The endpoint of spans: the address of `otlp:URL`, and the headers that OpenTelemetry takes from the environment.
import { addressIn, type Environment, shownLocation } from './settings.js'

export interface OtlpEndpoint {
  readonly href: string
  readonly headers: Readonly<Record<string, string>>
}

const variable = 'OTEL_EXPORTER_OTLP_HEADERS'
/** A name of a header (RFC 9110 §5.6.2). */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** The problem with the location or the headers; null when spans can be sent. No value of a header is named. */
export function endpointProblem(location: string, env: Environment): string | null {
  const url = addressIn(location.slice('otlp:'.length))
  if (url === null)
    return `\`${shownLocation(location)}\` is not a log location: write \`otlp:\` and an http(s) address without a user name, such as otlp:http://127.0.0.1:4318`
  const wrong = headerParts(env).find((part) => !isHeader(part))
  if (wrong === undefined) return null
  return `${variable} must be name=value pairs separated by commas, found \`${nameOf(wrong)}\``
}

/** The endpoint at a location that has no problem. Without a path the address gets `/v1/traces`. */
export function endpointAt(location: string, env: Environment): OtlpEndpoint {
  const url = addressIn(location.slice('otlp:'.length))
  if (url === null) throw new Error(`\`${shownLocation(location)}\` is not an address`)
  if (url.pathname === '/') url.pathname = '/v1/traces'
  const headers = headerParts(env).map((part) => [nameOf(part).toLowerCase(), valueIn(part)] as const)
  return { href: url.href, headers: Object.fromEntries(headers) }
}

function headerParts({ [variable]: text = '' }: Environment): string[] {
  return text.split(',').filter((part) => part.trim() !== '')
}

function isHeader(part: string): boolean {
  const value = part.includes('=') ? valueIn(part) : null
  return headerName.test(nameOf(part)) && value !== null && !/[^\t\x20-\x7e\x80-\xff]/.test(value)
}

function nameOf(part: string): string {
  return (part.split('=')[0] ?? '').trim()
}

/** Values are percent-encoded, as in W3C Baggage; text that is not stays as it is. */
function valueIn(part: string): string {
  const text = part.slice(part.indexOf('=') + 1).trim()
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

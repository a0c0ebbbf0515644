// The approver that a gate recorded.
import { firstUnopened, isMap, leafHash, parseJson } from '@svc/proof'
import type { LogRecord } from '@svc/schemas'
import type { GateRow } from '../../content/messages.js'

/** The members of a gate in which agents name the person who approved; else the gate acts on behalf of `auth.principal`. */
const names = ['approver', 'approved_by', 'answered_by', 'by']

/** The approver in the payload of a gate; null when it names none, or is erased. `altered`: it does not open its commitments. */
export function approverIn({ hash, record, salts, body }: GateRow): { readonly name: string | null } | 'altered' {
  if (salts === null || body === null) return { name: null }
  const values = parsed(body)
  const committed = leafHash(record) === hash ? (parsed(record) as unknown as LogRecord | null) : null
  const keys = parsed(salts)
  if (values === null || keys === null || committed === null) return 'altered'
  const { data, evaluation } = committed
  return firstUnopened({ ...data, evaluation }, keys, values) === null ? { name: approverOf(values) } : 'altered'
}

/** The approver that the payload of a gate names; a claim of the agent. */
export function approverOf({ properties, output }: Readonly<Record<string, unknown>>): string | null {
  const guard = isMap(properties) ? properties.guard : null
  const flat = isMap(properties) ? names.map((name) => properties[`guard.${name}`]) : []
  const nested = [guard, output].flatMap((part) => (isMap(part) ? names.map((name) => part[name]) : []))
  return (
    [...nested, ...flat, ...principalIn(properties)].find(
      (value): value is string => typeof value === 'string' && value !== '',
    ) ?? null
  )
}

function principalIn(properties: unknown): unknown[] {
  if (!isMap(properties)) return []
  return [isMap(properties.auth) ? properties.auth.principal : null, properties['auth.principal']]
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = parseJson(text)
    return isMap(value) ? value : null
  } catch {
    return null
  }
}

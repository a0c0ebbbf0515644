// Checks on the members of records, payloads and bundles.

/** 64 lower-case hex digits. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

/** RFC 3339 UTC with milliseconds: the form that is hashed, whose text order is the order of time. */
export function isTime(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
    // Date.parse reads 30 February as a day of March.
    new Date(Date.parse(value) || 0).toISOString() === value
  )
}

/** An integer from 0 that a double holds exactly. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** A JSON object. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

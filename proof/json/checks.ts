// What the members of records, payloads and bundles must be.

/** 64 lower-case hex digits. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

/** RFC 3339 UTC with milliseconds: as it is hashed, and in the order of time. */
export function isTime(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
    // A day that the month does not have is read as one of the next.
    new Date(Date.parse(value) || 0).toISOString() === value
  )
}

/** A JSON object. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

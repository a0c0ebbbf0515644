// Times in the elements of OSCAL.

/** A time that the schema accepts: its years are 1900 to 2999. The time itself is a property too. */
export function schemaTime(time: string): string {
  if (time < '1900') return '1900-01-01T00:00:00.000Z'
  return time >= '3000' ? '2999-12-31T23:59:59.999Z' : time
}

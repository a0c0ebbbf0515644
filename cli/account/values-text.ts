// Values of parameters for people: `field: input.amount, max: 50`.

/** The members of a map, without its braces. */
export function valuesText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(', ')
}

/** Levels that are shown; rules nest without a limit. */
const maxLevels = 6

/** A value on one line. */
export function valueText(value: unknown, levels = maxLevels): string {
  if (typeof value === 'string') return /^[\w./@ -]+$/.test(value) ? value : JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (levels === 0) return '…'
  if (Array.isArray(value)) return `[${value.map((one) => valueText(one, levels - 1)).join(', ')}]`
  const members = Object.entries(value).map(([name, one]) => `${name}: ${valueText(one, levels - 1)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

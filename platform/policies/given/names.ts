// A readable name for a policy that was sent without one: its rule, and the values of its parameters.
import type { JsonMap } from '@svc/schemas'

const maxLength = 120

/** Such as `Step requires gate: refund, 3`. */
export function nameFrom(rule_type: unknown, params: unknown): string {
  const rule = typeof rule_type === 'string' && rule_type.trim() !== '' ? rule_type.replaceAll('_', ' ') : 'policy'
  const named = rule.slice(0, 1).toUpperCase() + rule.slice(1)
  const values = isMap(params) ? Object.values(params).flatMap(wordsIn) : []
  const name = values.length === 0 ? named : `${named}: ${values.slice(0, 4).join(', ')}`
  return name.length <= maxLength ? name : `${[...name].slice(0, maxLength - 1).join('')}…`
}

/** The scalars of a parameter; compound conditions and filters have none. */
function wordsIn(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value]
  return values.flatMap((one) => {
    if (typeof one === 'number' || typeof one === 'boolean') return [String(one)]
    const text = typeof one === 'string' ? one.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim() : ''
    return text === '' ? [] : [text]
  })
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

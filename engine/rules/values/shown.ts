// Values of policies, and names of tools, in messages.
import { quote } from '../../check/quote.js'

/** Values that a message lists; the others are in the parameters of the policy. */
const maxListed = 8

export function literal(value: unknown): string {
  return quote(typeof value === 'string' ? value : JSON.stringify(value))
}

/** The first values of a list, such as `` `GET`, `POST` ``. */
export function listed(values: readonly unknown[]): string {
  return `${values.slice(0, maxListed).map(literal).join(', ')}${values.length > maxListed ? ', …' : ''}`
}

/** The only value, or the first of several, such as `` one of `GET`, `POST` ``. */
export function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? literal(values[0]) : `one of ${listed(values)}`
}

// Commitments to the values of a payload: the record holds the commitments; the salts and values that open them can be erased.
import { randomBytes } from 'node:crypto'
import { canonical, commitmentOfText, saltBytes } from '@svc/proof'

export interface CommittedPayload {
  /** The commitment to each value, for the record. */
  readonly data: Readonly<Record<string, string>>
  /** Members of a JSON object, as they are stored; `values` likewise. */
  readonly salts: string
  readonly values: string
}

/** Commits to each value with a fresh salt. The names must be in canonical order. */
export function commitTo(values: Readonly<Record<string, unknown>>): CommittedPayload {
  const fields = Object.entries(values)
  const random = randomBytes(saltBytes * fields.length)
  const data: Record<string, string> = {}
  const salts: string[] = []
  const texts: string[] = []
  for (const [index, [field, value]] of fields.entries()) {
    const salt = random.subarray(index * saltBytes, (index + 1) * saltBytes)
    const text = canonical(value)
    data[field] = commitmentOfText(field, text, salt)
    salts.push(`"${field}":"${salt.toString('hex')}"`)
    texts.push(`"${field}":${text}`)
  }
  return { data, salts: salts.join(','), values: texts.join(',') }
}

// Values as the log keeps them: committed to in the record, and opened by a salt and a value that can be erased.
import { randomBytes } from 'node:crypto'
import { canonical, commitmentOfText, saltBytes } from '@svc/proof'

/** Values as they will be stored, and what the record says of them. `salts` and `values` are members of a JSON object each. */
export interface SealedPayload {
  readonly data: Readonly<Record<string, string>>
  readonly salts: string
  readonly values: string
}

/** Commits to each value with a fresh salt; `values` in canonical order of their names. */
export function seal(values: Readonly<Record<string, unknown>>): SealedPayload {
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

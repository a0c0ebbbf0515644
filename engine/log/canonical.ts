// RFC 8785 (JCS): one text for one JSON value, so that everybody hashes the same bytes.

/**
 * Canonical JSON of a value: members sorted by UTF-16 code units, ECMAScript numbers, no white space. A member that is
 * undefined is absent. Throws TypeError for what JSON cannot say: non-finite numbers, lone surrogates, functions.
 */
export function canonical(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('a number that is not finite has no canonical form')
      return JSON.stringify(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? list(value) : object(value as Record<string, unknown>)
    default:
      throw new TypeError(`a ${typeof value} has no canonical form`)
  }
}

function list(items: readonly unknown[]): string {
  return `[${items.map(canonical).join(',')}]`
}

function object(value: Readonly<Record<string, unknown>>): string {
  let text = ''
  for (const key of Object.keys(value).sort()) {
    const member = value[key]
    if (member === undefined) continue
    text += `${text === '' ? '' : ','}${quote(key)}:${canonical(member)}`
  }
  return `{${text}}`
}

/** Says what it is between quotes: ASCII without quotes, backslashes and controls. */
const plain = /^[ !#-[\]-~]*$/

function quote(text: string): string {
  if (plain.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new TypeError('a string with a lone surrogate has no canonical form')
  return JSON.stringify(text)
}

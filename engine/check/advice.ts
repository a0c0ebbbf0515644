// The value to write in a YAML file instead of one of the wrong type. A value that a message shows is accepted when it is written.
import type { JsonMap } from '@svc/schemas'
import { numberMeant } from './number-meant.js'
import { quote } from './quote.js'

/** The types of JSON, with whole numbers apart. */
export type Kind = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

/** A schema of one type, as far as advice reads it. */
interface Form {
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly enum?: readonly unknown[]
  readonly items?: { readonly type?: string; readonly enum?: readonly unknown[]; readonly anyOf?: unknown }
  readonly minItems?: number
  /** Texts that a person can copy, such as `{ check_type: human_approval }`. */
  readonly 'x-write'?: string
}

/** The end of a message; empty where nothing better is known. `name` is the key that has the value. */
export function adviceOf(type: Kind, schema: JsonMap, data: unknown, name: string): string {
  const form = schema as Form
  if (acceptsNull(schema) && meansNone(type, data)) return `; write \`null\`, or leave ${quote(name)} out`
  if (form['x-write'] !== undefined) return written(form['x-write'])
  switch (type) {
    case 'string':
      return textAdvice(form, data)
    case 'integer':
    case 'number':
      return numberAdvice(type, form, data, name)
    case 'boolean':
      return booleanAdvice(data)
    case 'array':
      return listAdvice(form, data)
    case 'object':
      return mapAdvice(data)
    default:
      return ''
  }
}

function acceptsNull({ type }: JsonMap): boolean {
  return Array.isArray(type) && type.includes('null')
}

/** True for `false`, `no` or `none` in place of a map, a list or a number. */
function meansNone(type: Kind, data: unknown): boolean {
  if (type === 'string' || type === 'boolean') return false
  return data === false || (typeof data === 'string' && /^(no|none|off|false|never)$/i.test(data.trim()))
}

function written(text: string): string {
  return text.length > 60 ? '' : `; write ${quote(text)}`
}

function textAdvice({ enum: values }: Form, data: unknown): string {
  const isAccepted = (text: string) => values === undefined || values.includes(text)
  if (typeof data === 'number' || typeof data === 'boolean') return isAccepted(String(data)) ? written(`"${data}"`) : ''
  const [only, ...others] = Array.isArray(data) ? (data as unknown[]) : []
  return typeof only === 'string' && others.length === 0 && isAccepted(only) ? written(plain(only)) : ''
}

function numberAdvice(type: 'integer' | 'number', form: Form, data: unknown, name: string): string {
  const isAccepted = (value: number) =>
    (type === 'number' || Number.isSafeInteger(value)) &&
    value >= (form.minimum ?? -Infinity) &&
    value <= (form.maximum ?? Infinity) &&
    value > (form.exclusiveMinimum ?? -Infinity) &&
    value < (form.exclusiveMaximum ?? Infinity)
  const example = [1, form.minimum, form.maximum].find((value) => value !== undefined && isAccepted(value))
  const such = example === undefined ? '' : `; write a number such as ${quote(String(example))}`
  if (typeof data === 'number') {
    const [first, second] = [Math.floor(data), Math.ceil(data)].filter(isAccepted)
    if (first === undefined) return such
    return `${written(String(first))}${second === undefined ? '' : ` or ${quote(String(second))}`}`
  }
  if (typeof data !== 'string') return ''
  const meant = numberMeant(data, name)
  if (meant === null || !isAccepted(meant)) return such
  // 1.000 is a thousand in some countries.
  const thousands = /^\d{1,3}\.\d{3}$/.test(data.trim()) ? Math.round(meant * 1000) : null
  const or =
    thousands !== null && isAccepted(thousands) ? `, or ${quote(String(thousands))} if thousands are meant` : ''
  return `${written(String(meant))}${Number(data) === meant ? ' without quotes' : ''}${or}`
}

function booleanAdvice(data: unknown): string {
  if (/^(yes|on|true|y|1)$/i.test(String(data))) return written('true')
  return /^(no|off|false|n|0)$/i.test(String(data)) ? written('false') : '; write `true` or `false`'
}

function listAdvice({ items = {}, minItems = 1 }: Form, data: unknown): string {
  if (items.type === 'object') return '; write a dash before each item, `- name: …`'
  if (items.enum !== undefined) return enumListAdvice(items.enum.map(String), data)
  const parts = typeof data === 'string' ? itemsIn(data) : typeof data === 'number' ? [String(data)] : []
  const isNumber = items.type === 'number' || items.type === 'integer'
  if (parts.length === 0 || isNumber || parts.length < minItems) return '; write a dash before each item'
  // Items of any type keep a number; several forms or a text take it in quotes.
  const isAny = items.type === undefined && items.anyOf === undefined
  return written(`[${parts.map((part) => (typeof data === 'number' && isAny ? part : plain(part))).join(', ')}]`)
}

/** A list of a few words; `mon-fri` means the words from the first to the second. */
function enumListAdvice(words: readonly string[], data: unknown): string {
  const such = `; write a list such as ${quote(`[${words.slice(0, 2).join(', ')}]`)}`
  if (typeof data !== 'string') return such
  const parts = data.split(/[,;/\s]+(?:(?:and|or)\s+)?/i).join(',')
  const ranges = parts.split(/,(?![-–]|to,)(?<![-–],|,to,)/).map((part) => rangeIn(part, words))
  const found = ranges.flatMap((range) => range ?? [])
  return ranges.includes(null) || found.length === 0 ? such : written(`[${[...new Set(found)].join(', ')}]`)
}

/** The words of `mon`, `monday`, `mon-fri` or `mon to fri`; null for others. */
function rangeIn(text: string, words: readonly string[]): string[] | null {
  const ends = text.split(/,?(?:[-–]|to(?=,)),?/).map((end) => indexOf(end.trim(), words))
  const [from, to = from, ...others] = ends
  if (from === undefined || to === undefined || ends.includes(-1) || others.length > 0) return null
  const count = ((to - from + words.length) % words.length) + 1
  return Array.from({ length: count }, (_, index) => words[(from + index) % words.length] ?? '')
}

/** The index of the word, or of the only word that the text begins with. */
function indexOf(text: string, words: readonly string[]): number {
  const lower = text.toLowerCase()
  return words.findIndex((word) => lower === word || (/^[a-z]{4,}$/.test(lower) && lower.startsWith(word)))
}

function mapAdvice(data: unknown): string {
  const [, name, rest] = /^([\w.-]+):(\S.*)$/.exec(typeof data === 'string' ? data : '') ?? []
  if (name !== undefined) return `; write a space after the colon, ${quote(`${name}: ${rest}`)}`
  return Array.isArray(data)
    ? '; write `key: value` pairs, without dashes or brackets'
    : '; write `key: value` in lines below it'
}

/** The parts of a text that is probably a list, such as `EUR, CHF`. */
function itemsIn(text: string): string[] {
  if (text.trim() === '') return []
  const parts = text.split(/[,;]/).map((part) => part.trim())
  return parts.length > 1 && parts.every((part) => /^[\w.-]+$/.test(part)) ? parts : [text]
}

/** A text as an item of a list in brackets; words that YAML reads as other values are in quotes. */
function plain(text: string): string {
  const isWord = /^[A-Za-z_][\w./ -]*$/.test(text) && !/^(true|false|null)$/i.test(text)
  return isWord ? text.trim() : JSON.stringify(text)
}

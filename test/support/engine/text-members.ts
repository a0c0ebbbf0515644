// The text members of request bodies, found in the schemas.
import { documents, type JsonMap, type SchemaName } from '@svc/schemas'

export interface TextMember {
  /** Member names from the body; `*` stands for an item of a list. */
  readonly path: readonly string[]
  readonly schema: JsonMap
}

/** Members that may hold any text: closed lists and times are not text. */
export function textMembers(name: SchemaName): readonly TextMember[] {
  const found = new Map<string, TextMember>()
  const visit = (given: JsonMap, path: readonly string[]) => {
    const schema =
      typeof given.$ref === 'string' ? (documents[given.$ref.slice(0, -5) as SchemaName] as JsonMap) : given
    const { type, enum: values, format, properties = {}, items, anyOf = [] } = schema as Record<string, never>
    const isText = [type ?? []].flat().includes('string' as never) && values === undefined && !('const' in schema)
    if (isText && format !== 'date-time') found.set(path.join('.'), { path, schema })
    for (const [key, inner] of Object.entries(properties as JsonMap)) visit(inner as JsonMap, [...path, key])
    for (const one of anyOf as readonly JsonMap[]) visit(one, path)
    if (items !== undefined) visit(items, [...path, '*'])
  }
  visit(documents[name] as JsonMap, [])
  return [...found.values()]
}

const named = [
  ['a soft hyphen', 0xad, 0xad],
  ['a grapheme joiner', 0x34f, 0x34f],
  ['an Arabic letter mark', 0x61c, 0x61c],
  ['a filler of Hangul', 0x115f, 0x1160],
  ['a hidden vowel of Khmer', 0x17b4, 0x17b5],
  ['a Mongolian separator', 0x180b, 0x180f],
  ['a space without width, a joiner or a mark of direction', 0x200b, 0x200f],
  ['a separator of lines or paragraphs', 0x2028, 0x2029],
  ['an embedding or an override of direction', 0x202a, 0x202e],
  ['an invisible operator, an isolate or an old format character', 0x2060, 0x206f],
  ['a filler', 0x3164, 0x3164],
  ['a variation selector', 0xfe00, 0xfe0f],
  ['a byte order mark', 0xfeff, 0xfeff],
  ['a filler of half width', 0xffa0, 0xffa0],
  ['an annotation', 0xfff9, 0xfffb],
  ['half of a character', 0xd800, 0xd801],
  ['a beam of music', 0x1d173, 0x1d17a],
  ['a tag', 0xe0001, 0xe007f],
  ['a supplementary variation selector', 0xe0100, 0xe0103],
  ['a control character', 0x00, 0x1f],
  ['a control character', 0x7f, 0x9f],
] as const

/** Characters that no text of people may contain; line breaks and tabs only where a text has several lines. */
export const hiddenCharacters: readonly string[] = named.flatMap(([, first, last]) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
)

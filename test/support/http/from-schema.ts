// Values generated from a JSON Schema: allowed ones, nearly allowed ones, and hostile ones.
import fc from 'fast-check'

export type Schema = Readonly<Record<string, unknown>>

/** Values that break programs without validation. */
export const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    '',
    ' ',
    '\0',
    '../..',
    "' or 1=1 --",
    '%',
    '%00',
    '💥',
    '\ud800',
    '__proto__',
    'constructor',
    '-1',
    '1e400',
    'null',
    '9007199254740993',
    'a'.repeat(5000),
    '{{7*7}}',
    '#{7*7}',
    '\u202e',
    '<script>',
    '2026-02-30T25:61:00Z',
    null,
    true,
    -1,
    0,
    1.5,
    1e308,
    9007199254740992,
    [],
    {},
    [[[[[]]]]],
    { __proto__: null },
    { toString: 1 },
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.jsonValue({ maxDepth: 4 }),
)

/** Values that the schema allows. `resolve`: the schema a `$ref` names. */
export function validFor(schema: Schema, resolve: (ref: string) => Schema, depth = 0): fc.Arbitrary<unknown> {
  const inner = (one: unknown) => validFor(one as Schema, resolve, depth + 1)
  if (typeof schema.$ref === 'string') return inner(resolve(schema.$ref))
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]))
  const choices = (schema.anyOf ?? schema.oneOf) as unknown[] | undefined
  if (choices !== undefined) return fc.oneof(...choices.map(inner))
  const types = [schema.type ?? []].flat() as string[]
  if (types.length > 1) return fc.oneof(...types.map((type) => validFor({ ...schema, type }, resolve, depth)))
  if (depth > 6) return fc.constant(null)
  return (makers[types[0] ?? 'any'] ?? anything)(schema, inner)
}

type Maker = (schema: Schema, inner: (one: unknown) => fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>

const anything: Maker = () => fc.jsonValue({ maxDepth: 2 })

const makers: Readonly<Record<string, Maker>> = {
  string: ({ format, pattern, minLength = 0, maxLength = typeof pattern === 'string' ? 1000 : 40 }) => {
    if (format === 'date-time')
      return fc
        .date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2040-01-01T00:00:00Z'), noInvalidDate: true })
        .map((date) => date.toISOString())
    const [least, most] = [Number(minLength), Math.min(Number(maxLength), Number(minLength) + 40)]
    const fits = (text: string) => text.length >= least && text.length <= Number(maxLength)
    if (typeof pattern === 'string') {
      // A negative pattern cannot be generated, only filtered.
      const wanted = new RegExp(pattern, 'u')
      return fc
        .stringMatching(new RegExp(pattern.replace(/^\^\(\?!(?:[^()]|\([^()]*\))*\)/, '^'), 'u'), { size: '-1' })
        .map((text) => (fits(text) ? text : text.slice(0, most)))
        .filter((text) => wanted.test(text))
    }
    return fc.string({ minLength: least, maxLength: most })
  },
  integer: ({ minimum = -1000, maximum = 2 ** 31 }) =>
    fc.integer({ min: Number(minimum), max: Math.min(Number(maximum), 2 ** 31) }),
  number: ({ minimum = -1e6, maximum = 1e6 }) => fc.double({ min: Number(minimum), max: Number(maximum), noNaN: true }),
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  array: ({ items = {}, minItems = 0, maxItems = 3 }, inner) =>
    fc.array(inner(items), {
      minLength: Number(minItems),
      maxLength: Math.max(Number(minItems), Math.min(3, Number(maxItems))),
    }),
  object: ({ properties = {}, required = [], additionalProperties = true }, inner) => {
    const named = Object.fromEntries(Object.entries(properties as Schema).map(([name, one]) => [name, inner(one)]))
    const known = fc.record(named, { requiredKeys: required as string[] })
    if (additionalProperties === false) return known
    const others = inner(additionalProperties === true ? {} : additionalProperties)
    return fc.tuple(fc.dictionary(fc.string({ maxLength: 10 }), others, { maxKeys: 2 }), known).map(([more, own]) => {
      return { ...more, ...own }
    })
  },
}

/** A value with one member replaced by a hostile value, or removed. */
export function nearly(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.tuple(value, fc.nat(), hostile, fc.boolean()).map(([whole, at, other, drops]) => {
    const copy = structuredClone(whole)
    const places: [Record<string, unknown>, string][] = []
    const visit = (node: unknown) => {
      if (typeof node !== 'object' || node === null) return
      for (const key of Object.keys(node)) {
        places.push([node as Record<string, unknown>, key])
        visit((node as Record<string, unknown>)[key])
      }
    }
    visit(copy)
    const [holder, key] = places[at % Math.max(1, places.length)] ?? []
    if (holder === undefined || key === undefined) return other
    if (drops && !Array.isArray(holder)) delete holder[key]
    else holder[key] = other
    return copy
  })
}

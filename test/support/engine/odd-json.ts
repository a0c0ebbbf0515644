// Valid JSON in unusual forms: numbers in every spelling, odd names and strings, any depth. It is text, because a parsed value
// loses its spelling.
import fc from 'fast-check'

/** Number literals that every endpoint accepts. */
const oddNumbers = [
  '0',
  '-0',
  '-0.0',
  '0e0',
  '0E-0',
  '1.0',
  '-1.50',
  '1e5',
  '1E+5',
  '100e-2',
  '1e-7',
  '0.000001',
  '5e-324',
  '-5e-324',
  '9007199254740991',
  '-9007199254740991',
  '9007199254740992.0',
  '9007199254740993.0',
  '9007199254740993e0',
  '1.7322624e+18',
  '1732262400000000000.0',
  '-1.7322624E18',
  '100000000000000000000.0',
  '999999999999999868928.0',
  '1e20',
  '1e21',
  '-1e21',
  '1E+22',
  '123456789012345678901234567890.0',
  '1.7976931348623157e308',
  '1e-400',
  '2.2250738585072014e-308',
  '0.1000000000000000055511151231257827',
  '123456789.123456789123',
  '3.0e-10',
]

/** Values that no endpoint accepts, because readers interpret them differently. */
export const rejectedValues = [
  '9007199254740992',
  '-9007199254740993',
  '1732262400000000000',
  '100000000000000000000',
  '1E400',
  '-1e999',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '01',
  '1.',
  '.5',
  '+1',
  'NaN',
  '[1,]',
  '"\u0001"',
]

const double = fc.double({ noNaN: true, noDefaultInfinity: true })
const spelling = fc.constantFrom<(value: number) => string>(
  (value) => (Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : JSON.stringify(value)),
  (value) => value.toExponential(),
  (value) => value.toExponential().replace('e', 'E'),
  (value) => value.toExponential(20),
  (value) => (Math.abs(value) < 1e21 ? value.toFixed(20) : value.toExponential()),
)
const integer = fc.maxSafeInteger()
const number = fc.oneof(
  fc.constantFrom(...oddNumbers),
  fc.tuple(double, spelling).map(([value, spell]) => spell(value)),
  fc
    .tuple(fc.bigInt({ min: 2n ** 53n, max: 10n ** 22n }), fc.constantFrom('.0', 'e0', 'E+0', '.5'))
    .map(([value, end]) => `${value}${end}`),
  fc.tuple(integer, fc.constantFrom('', '.0', 'e0', 'e+2')).map(([value, end]) => `${value}${end}`),
)

const oddStrings = [
  '',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '0',
  '1',
  '10',
  '9',
  '-1',
  'a.b',
  'svc.eval',
  'svc.manifests',
  'target.trust',
  'salts',
  'values',
  'null',
  '\0',
  '\u0001\u001f',
  '\u007f\u0080',
  '\b\f\n\r\t"\\/',
  '\u2028\u2029',
  '\ufeff',
  '\ufffe\uffff',
  '\ufb33',
  '\u{10ffff}',
  '😀',
  'e\u0301',
  'é',
  '\u0645\u0644',
  'a\u0300\u0301\u0302'.repeat(20),
  '👩‍👩‍👧‍👦',
  '\\ud800',
  '<script>',
  "'; drop table",
  '1732262400000000000',
  'x'.repeat(5000),
]
const wellFormed = fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => text.isWellFormed())
const string = fc.oneof(fc.constantFrom(...oddStrings), wellFormed)

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
/** A string as JSON, with every code unit escaped or only the necessary ones. */
const written = fc.tuple(string, fc.integer({ min: 0, max: 4 })).map(([text, how]) => ({
  text,
  json: how === 0 && text.length < 100 ? `"${text.split('').map(escaped).join('')}"` : JSON.stringify(text),
}))

const space = fc.constantFrom('', '', '', ' ', '\t', ' \r')

type Written = { readonly text: string; readonly json: string }

/** An object of these members, each name once in any escaping. */
function object(members: readonly (readonly [Written, string])[], gap: string): string {
  const once = new Map(members.map(([name, value]) => [name.text, `${name.json}${gap}:${gap}${value}`]))
  return `{${gap}${[...once.values()].join(`${gap},${gap}`)}${gap}}`
}

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    number,
    written.map(({ json }) => json),
    fc.constantFrom('true', 'false', 'null', '[]', '{}'),
    fc.tuple(fc.array(tie('value'), { maxLength: 4 }), space).map(([items, gap]) => `[${gap}${items.join(`${gap},`)}]`),
    fc.tuple(fc.array(fc.tuple(written, tie('value')), { maxLength: 4 }), space).map(([all, gap]) => object(all, gap)),
  ),
}))

/** The text of an object without line breaks between its tokens. */
export const oddObject: fc.Arbitrary<string> = fc
  .tuple(fc.array(fc.tuple(written, value), { maxLength: 5 }), space)
  .map(([members, gap]) => object(members, gap))

/** The text of a string. */
export const oddString: fc.Arbitrary<string> = written.map(({ json }) => json)

/** An object with exactly so many levels, alternately lists and objects. */
export function deepObject(levels: number, name = '""', innermost = '1e20'): string {
  let text = innermost
  for (let level = levels; level > 1; level--) text = level % 2 === 0 ? `[${text}]` : `{${name}:${text}}`
  return `{${name}:${text}}`
}

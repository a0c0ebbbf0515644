// The fast paths for canonical texts and for HMAC give the same results as the plain ones.
import { createHmac } from 'node:crypto'
import { canonical } from '@svc/proof'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalObject, readCanonical } from '../../proof/json/canonical-text.js'
import { parseStoredJson } from '../../proof/json/strict-json.js'
import { hmacOfText } from '../../proof/record/hmac.js'
import { runs } from '../support/random.js'

/** The definition: read strictly, then written again. */
function byDefinition(text: string): unknown {
  const reading = parseStoredJson(text)
  return reading.problem === null && canonical(reading.value) === text ? reading.value : undefined
}

/** Texts with the problem of each; null for a canonical one. */
const readings: readonly (readonly [text: string, problem: string | null])[] = [
  ['{"a":1,"b":[true,null,"x"]}', null],
  ['{"1":2,"10":1,"9":0}', null],
  ['[9007199254740991,1e+21,0.5]', null],
  ['"C:\\\\udon"', null],
  ['{"10":1,"9":0,"a":{"2":0,"b":1}}', null],
  [`${'['.repeat(64)}${']'.repeat(64)}`, null],
  ['{"b":1,"a":2}', 'is not in canonical form'],
  ['[{"b":1,"a":2}]', 'is not in canonical form'],
  ['{"9":0,"10":1}', 'is not in canonical form'],
  ['{"a": 1}', 'is not in canonical form'],
  ['[1.0]', 'is not in canonical form'],
  ['-0', 'is not in canonical form'],
  ['"\\u0041"', 'is not in canonical form'],
  ['{"a":1,"a":1}', 'cannot be read: duplicate member name `a`'],
  ['{"__proto__":1,"__proto__":1}', 'cannot be read: duplicate member name `__proto__`'],
  ['"\\ud800"', 'cannot be read: a lone surrogate'],
  ['9007199254740992', null],
  ['[123456789012345680000]', null],
  ['9007199254740993', 'cannot be read: an integer beyond 2^53-1 that is not the shortest form of a double'],
  ['1e999', 'cannot be read: a number too large to be kept exactly'],
  [`${'['.repeat(65)}${']'.repeat(65)}`, null],
  [`${'['.repeat(4001)}${']'.repeat(4001)}`, 'cannot be read: nested deeper than 4000 levels'],
  ['', 'cannot be read: not JSON: expected value, found the end'],
]

const names = fc.constantFrom('a', 'b', '__proto__', '1', '10', '9', 'é', '\ufb33', '😀', '\\u0061')
const atoms = fc.constantFrom(
  '0',
  '-0',
  '1.5',
  '1e21',
  '1e+21',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  'true',
  'null',
  '""',
  '"x"',
  '"\\n"',
  '"\\u000a"',
  '"\\ud800"',
  '"\\\\ud800"',
  '"é"',
  '"\ud800"',
  '[]',
  '{}',
)
const { text: anyText } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small' },
    atoms,
    fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc
      .array(fc.tuple(names, tie('text')), { maxLength: 4 })
      .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`),
  ),
}))

describe('a canonical text', () => {
  it.each(readings)('%s', (text, problem) => {
    expect(readCanonical(text).problem).toBe(problem)
    expect(byDefinition(text) === undefined).toBe(problem !== null)
  })

  it('is distinguished from every other text', () => {
    let valid = 0
    fc.assert(
      fc.property(anyText, (one) => {
        const reading = readCanonical(one)
        const value = byDefinition(one)
        expect(reading.problem === null).toBe(value !== undefined)
        if (reading.problem === null) expect(reading.value).toStrictEqual(value)
        valid += value === undefined ? 0 : 1
      }),
      { numRuns: runs(5000) },
    )
    expect(valid).toBeGreaterThan(runs(5000) / 10)
  })

  it('is what canonical() writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const reading = parseStoredJson(canonical(value))
        if (reading.problem === null) expect(readCanonical(canonical(value))).toStrictEqual(reading)
      }),
    )
  })

  it('is distinguished from a long text', () => {
    for (const open of ['"', '{"', '["a","'])
      expect(readCanonical(`${open}${'a'.repeat(12_000_000)}`).problem).toMatch(/^cannot be read: /)
    expect(readCanonical(`"${'\\n'.repeat(6_000_000)}\u0001"`).problem).toMatch(/^cannot be read: /)
  })

  it.each(['[]', 'null', '1', '"{}"', '{"b":1,"a":1}'])('is not an object: %s', (text) => {
    expect(canonicalObject(text)).toBeNull()
  })
})

describe('an HMAC of a text', () => {
  it('is that of the runtime, after any other text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.nat(9000).map((length) => '€x'.repeat(length / 2)),
      fc.constant('lone \ud800'),
    )
    const key = fc.oneof(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array({ maxLength: 100 }))
    fc.assert(
      fc.property(key, text, (bytes, one) => {
        expect(hmacOfText(bytes, one)).toBe(createHmac('sha256', bytes).update(one).digest('hex'))
      }),
      { numRuns: runs(2000) },
    )
  })
})

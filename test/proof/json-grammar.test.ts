// One JSON grammar for requests and for every reader: the accepted spellings, and the canonical text of each.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { canonical, maxPolicyDepth, maxRequestDepth, maxStoredDepth, parseStrictJson } from '@svc/proof'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCanonical } from '../../proof/json/canonical-text.js'
import { isDeeperThan } from '../../proof/json/depth.js'
import { parseStoredJson } from '../../proof/json/strict-json.js'
import { runs } from '../support/random.js'

const folder = fileURLToPath(new URL('./verifier/', import.meta.url))
const python = spawnSync('python3', ['--version']).status === 0
const program = `
import sys
sys.path.insert(0, ${JSON.stringify(folder)})
from jcs import NotJson, canonical, parse
for line in sys.stdin.buffer.read().decode().split('\\n')[:-1]:
    try:
        print(canonical(parse(line)))
    except NotJson:
        print('rejected')
`

/** The canonical text of each line according to the second verifier; `rejected` for a line that it rejects. */
function secondReading(lines: readonly string[]): string[] {
  const input = lines.map((line) => `${line}\n`).join('')
  const env = { ...process.env, PYTHONIOENCODING: 'utf-8' }
  const { stdout, stderr } = spawnSync('python3', ['-B', '-c', program], {
    input,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  expect(stderr).toBe('')
  return stdout.split('\n').slice(0, -1)
}

const nested = (levels: number, inner = '') => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`
const nodes = (levels: number) => `${'{"conditions":['.repeat(levels)}1.5${']}'.repeat(levels)}`

/** Spellings with their canonical text; null for a rejected one. */
const spellings: readonly (readonly [literal: string, text: string | null])[] = [
  ['9007199254740991', '9007199254740991'],
  ['-9007199254740991', '-9007199254740991'],
  ['9007199254740992', null],
  ['9007199254740993', null],
  ['-9007199254740992', null],
  ['1732262400000000000', null],
  ['100000000000000000000', null],
  ['1000000000000000000000', null],
  ['1.7322624e+18', '1732262400000000000'],
  ['1.7322624E18', '1732262400000000000'],
  ['1732262400000000000.0', '1732262400000000000'],
  ['1732262400000000000e0', '1732262400000000000'],
  ['9007199254740992.0', '9007199254740992'],
  ['9007199254740993.0', '9007199254740992'],
  ['-9007199254740993.0', '-9007199254740992'],
  ['100000000000000000000.0', '100000000000000000000'],
  ['123456789012345678901.5', '123456789012345680000'],
  ['999999999999999868928.0', '999999999999999900000'],
  ['1e20', '100000000000000000000'],
  ['1e21', '1e+21'],
  ['1E+21', '1e+21'],
  ['-1e21', '-1e+21'],
  ['1.7976931348623157e308', '1.7976931348623157e+308'],
  ['1.7976931348623159e308', null],
  ['1E400', null],
  ['-1E400', null],
  ['5e-324', '5e-324'],
  ['4.9406564584124654e-324', '5e-324'],
  ['1e-400', '0'],
  ['-1e-400', '0'],
  ['2.2250738585072014e-308', '2.2250738585072014e-308'],
  ['0', '0'],
  ['-0', '0'],
  ['-0.0', '0'],
  ['0e5', '0'],
  ['1.0', '1'],
  ['1.50', '1.5'],
  ['100e-2', '1'],
  ['1e-6', '0.000001'],
  ['1e-7', '1e-7'],
  ['0.1000000000000000055511151231257827', '0.1'],
  ['123456789.123456789123', '123456789.12345679'],
  [`0.${'0'.repeat(400)}1e401`, '1'],
  [`1${'0'.repeat(308)}.0`, '1e+308'],
  [`1${'0'.repeat(309)}.0`, null],
  ['01', null],
  ['1.', null],
  ['.5', null],
  ['+1', null],
  ['1e', null],
  ['0x10', null],
  ['NaN', null],
  ['Infinity', null],
]

describe('a number', () => {
  it.each(spellings)('%s', (literal, text) => {
    for (const around of ['', '[', '{"2":']) {
      const end = around === '[' ? ']' : around === '' ? '' : '}'
      const sent = parseStrictJson(`${around}${literal}${end}`)
      expect(sent.problem === null ? canonical(sent.value) : null).toBe(text === null ? null : `${around}${text}${end}`)
      if (text !== null) expect(readCanonical(`${around}${text}${end}`).problem).toBeNull()
    }
  })

  it('is stored in one form: another than that of RFC 8785 is not canonical', () => {
    for (const text of ['9007199254740993', '-9007199254740993', '1732262400000000001', '1000000000000000000000'])
      expect([text, readCanonical(text).problem]).toEqual([text, expect.stringMatching(/2\^53-1/)])
    for (const text of ['1.7322624e+18', '1e21', '-0', '1.0'])
      expect([text, readCanonical(text).problem]).toEqual([text, 'is not in canonical form'])
  })

  it.skipIf(!python)('is the same in the second verifier', () => {
    const accepted = spellings.flatMap(([, text]) => (text === null ? [] : [text]))
    expect(secondReading(accepted)).toEqual(accepted)
    const doubles = fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), { numRuns: 2000, seed: 8785 })
    const edges = Array.from({ length: 700 }, (_, at) => 2 ** (at - 300)).flatMap((one) => [one, one * 3, -one / 7])
    const texts = [...doubles, ...edges].map((one) => canonical(one))
    expect(secondReading(texts)).toEqual(texts)
    expect(texts.map((text) => readCanonical(text).problem).filter((problem) => problem !== null)).toEqual([])
    const others = ['9007199254740993', '1732262400000000001', '1000000000000000000000', '1e999', '1e-', '01', '']
    expect(new Set(secondReading(others))).toEqual(new Set(['rejected']))
  })
})

describe('depth', () => {
  it('has one limit for a request', () => {
    expect(parseStrictJson(nested(maxRequestDepth)).problem).toBeNull()
    expect(parseStrictJson(nested(maxRequestDepth + 1)).problem?.message).toBe('nested deeper than 64 levels')
  })

  it('has one larger limit for every text that is stored', () => {
    expect(maxStoredDepth).toBeGreaterThanOrEqual(Math.max(maxRequestDepth, maxPolicyDepth) + 8)
    for (const text of [nested(maxStoredDepth), nodes(maxStoredDepth / 2), nested(maxPolicyDepth + 8, '"x"')]) {
      const { value, problem } = readCanonical(text)
      expect(problem).toBeNull()
      expect(canonical(value)).toBe(text)
      expect(parseStoredJson(text).problem).toBeNull()
    }
    expect(readCanonical(nested(maxStoredDepth + 1)).problem).toBe('cannot be read: nested deeper than 4000 levels')
    expect(readCanonical(nested(1_000_000)).problem).toBe('cannot be read: nested deeper than 4000 levels')
  })

  it('beyond the limit of readers is not written', () => {
    expect(() => canonical(JSON.parse(nested(maxStoredDepth + 1)))).toThrow('more than 4000 levels')
  })

  it('is measured without recursion', () => {
    for (const [text, levels] of [
      ['1', 0],
      ['{}', 1],
      ['[[1],{"a":[]}]', 3],
      [nested(100_000), 100_000],
    ] as const) {
      const value: unknown = JSON.parse(text)
      expect([isDeeperThan(value, levels), levels > 0 && isDeeperThan(value, levels - 1)]).toEqual([false, levels > 0])
    }
  })

  it.skipIf(!python)('has the same limit in the second verifier', () => {
    const deep = [nested(maxStoredDepth), nodes(maxStoredDepth / 2), nested(3000, '{"a":[1e+21,"x"]}')]
    expect(secondReading(deep)).toEqual(deep)
    expect(secondReading([nested(maxStoredDepth + 1), nested(100_000)])).toEqual(['rejected', 'rejected'])
  })
})

describe('the second verifier', () => {
  const values = fc.sample(fc.jsonValue({ stringUnit: 'binary' }), { numRuns: 1500, seed: 8259 })
  it.skipIf(!python)('reads and writes JSON as the first does, or rejects it as the first does', () => {
    const texts = values.flatMap((value) => {
      const text = JSON.stringify(value)
      return [text, text.slice(0, -1), `${text} `, `[${text},${text}]`, text.replace(/[[\]{}:,"]/, '')]
    })
    const lines = texts.filter((text) => !text.includes('\n') && text.isWellFormed())
    const first = lines.map((line) => {
      const reading = parseStoredJson(line)
      return reading.problem === null ? canonical(reading.value) : 'rejected'
    })
    expect(secondReading(lines)).toEqual(first)
  })
})

describe('names that are spelt with escapes', () => {
  const spelling = fc.constantFrom(
    'a',
    '\\u0061',
    'b',
    'a\\"',
    '\\"a',
    '\\\\',
    '\\\\\\"',
    '\\n',
    '',
    ':',
    '__proto__',
    'é',
  )
  const value = fc.constantFrom('1', '":"', '"\\\\"', '"\\":"', '{}', '[{"a":"b"}]', 'null')

  it('are duplicates exactly where they are the same text', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(spelling, value), { maxLength: 5 }), (members) => {
        const text = `{${members.map(([name, one]) => `"${name}" : ${one}`).join(',')}}`
        const names = members.map(([name]) => JSON.parse(`"${name}"`) as string)
        const { problem } = parseStoredJson(text)
        expect(problem === null).toBe(new Set(names).size === names.length)
      }),
      { numRuns: runs(2000) },
    )
  })
})

describe('a fault in a request', () => {
  it.each([
    ['{"a": 1, }', 'not JSON: a comma before `}`: remove the comma'],
    ['[1,\n]', 'not JSON: a comma before `]`: remove the comma'],
    ['{"a": }', 'not JSON: expected value, found `}`'],
    ['{"a" 1}', 'not JSON: expected :, found something else'],
  ])('%s is named', (text, message) => {
    expect(parseStrictJson(text).problem?.message).toBe(message)
  })
})

// Names of members that are spelt with escapes: every version of Node.js reads them as they were written.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type JsonReading, parseJson, parseStoredJson, parseStrictJson } from '@svc/proof'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCanonical } from '../../proof/json/canonical-text.js'
import { runs } from '../support/random.js'

/** Pairs of texts: after the first, JSON.parse of some versions of V8 reads the second with a name of the first. */
const pairs: readonly (readonly [first: string, second: string, names: readonly string[]])[] = [
  ['{"h":[],"\\\\":0}', '{"h":1,"\\"":2}', ['h', '"']],
  ['{"i":[],"\\\\":0}', '{"i":1,"\\n":2}', ['i', '\n']],
  ['{"j":[],"\\\\":0}', '{"j":1,"\\u0041":2}', ['j', 'A']],
  ['{"k":[],"ab\\\\":0}', '{"k":1,"ab\\"":2}', ['k', 'ab"']],
  ['{"l":[],"\\\\":0}', '{"l":1,"\\u0022":2}', ['l', '"']],
  ['{"m":[],"\\\\":0}', '{"m":1,"\\"" :2}', ['m', '"']],
  ['{"n":[],"\\\\":0}', '{"n":1,"__proto__":2,"\\"":3}', ['n', '__proto__', '"']],
]

const readers: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['parseJson', parseJson],
  ['parseStrictJson', (text) => contentOf(parseStrictJson(text))],
  ['parseStoredJson', (text) => contentOf(parseStoredJson(text))],
]

const contentOf = (reading: JsonReading) => (reading.problem === null ? reading.value : reading.problem.message)

/** A list with the value of a text; empty if the text is not JSON. */
const outcomeOf = (read: () => unknown) => {
  try {
    return [read()]
  } catch (error) {
    return error instanceof SyntaxError ? [] : [error]
  }
}

describe('a name with an escape', () => {
  it.each(readers)('is read by %s as it is written, whatever was read before', (_, read) => {
    for (const [first, second, names] of pairs) {
      expect(Object.keys(read(first) as object)).toHaveLength(2)
      expect(Object.keys(read(second) as object)).toEqual(names)
    }
  })

  it('is read so in canonical text', () => {
    for (const text of ['{"A":[],"B\\\\":0}', '{"A":1,"B\\"":2}', '{"A":1,"B\\n":2}']) {
      const { value } = readCanonical(text)
      expect(JSON.stringify(value)).toBe(text)
    }
  })

  it('occurs twice only if both spellings are the same text', () => {
    parseStrictJson('{"h":[],"\\\\":0}')
    expect(contentOf(parseStrictJson('{"h":1,"\\\\":1,"\\"":2}'))).toEqual({ h: 1, '\\': 1, '"': 2 })
    expect(contentOf(parseStrictJson('{"h":1,"\\"":1,"\\u0022":2}'))).toBe('duplicate member name `"`')
  })

  it('is own, also as __proto__', () => {
    const value = parseJson('{"__proto__":{"a":1},"\\u005f_proto__":{"b":1}}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.entries(value as object)).toEqual([['__proto__', { b: 1 }]])
  })

  it('may be as deep as a stored text', () => {
    const text = `${'{"\\\\":['.repeat(2000)}1${']}'.repeat(2000)}`
    expect(parseStoredJson(text).problem).toBeNull()
    expect(parseJson(`${'{"\\\\":['.repeat(20_000)}1${']}'.repeat(20_000)}`)).toBeTruthy()
  })
})

describe('a text', () => {
  /** The text of a value in which every name begins with an escape, so that JSON.parse reads no name of it. */
  const written = (value: unknown, space: string): string => {
    if (Array.isArray(value)) return `[${value.map((one) => space + written(one, space)).join(`${space},`)}${space}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const members = Object.entries(value).map(
      ([name, one]) => `${space}"\\u0023${JSON.stringify(name).slice(1)}${space}:${space}${written(one, space)}`,
    )
    return `{${members.join(',')}${space}}`
  }
  const named = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(named)
    if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [`#${name}`, named(one)]))
  }
  const values = fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 })

  it('with escaped names has the value that was written', () => {
    fc.assert(
      fc.property(values, fc.constantFrom('', ' ', '\n\t', ' \r\n'), (value, space) => {
        expect(parseJson(written(value, space))).toEqual(named(value))
      }),
      { numRuns: runs(3000) },
    )
  })

  it('that is not JSON is rejected as JSON.parse rejects it', () => {
    const spoil = fc.record({
      at: fc.nat(200),
      cut: fc.nat(2),
      put: fc.constantFrom(...'[]{},:"\\0-.eE+tn \u0000\u00a0'),
    })
    fc.assert(
      fc.property(values, spoil, (value, { at, cut, put }) => {
        // One name with an escape, which no other text has: whether a text is JSON does not depend on its names.
        const text = `{"\\u0023":0,"a":${written(value, '')}}`
        const place = at % text.length
        const spoilt = text.slice(0, place) + put + text.slice(place + cut)
        expect(outcomeOf(() => parseJson(spoilt)).length).toBe(outcomeOf(() => JSON.parse(spoilt)).length)
      }),
      { numRuns: runs(5000) },
    )
  })
})

describe('the packages', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const folders = ['schemas', 'library', 'proof', 'engine', 'cli', 'platform', 'app', 'action']
  /** Texts that are no evidence: answers and events of GitHub, and documents of the program. */
  const others = ['action/change/base.ts', 'app/receiver/delivery.ts', 'platform/http/openapi.ts']

  it('read JSON with parseJson', () => {
    const { stdout } = spawnSync('git', ['ls-files', '--', ...folders.map((folder) => `${folder}/**.ts`)], {
      cwd: root,
      encoding: 'utf8',
    })
    const found = stdout
      .trim()
      .split('\n')
      .filter((path) => /\bJSON\.parse\(|\.json\(\)/.test(readFileSync(root + path, 'utf8')))
    expect(found).toEqual([...others, 'proof/json/parse-json.ts'].sort())
  })
})

// Canonical JSON, strict JSON, and the frozen record format: these bytes must never change.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  actionDigest,
  canonical,
  commitment,
  leafHash,
  logIdOf,
  noCheckpoint,
  parseStrictJson,
  recordText,
} from '@svc/proof'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../support/random.js'
import { sharedData } from '../support/server/shared.js'

describe('canonical JSON (RFC 8785)', () => {
  it.each([
    [
      'members sorted by UTF-16 code units',
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 },
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
    ],
    [
      'ECMAScript numbers',
      [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0, 1e21],
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1e+21]',
    ],
    ['minimal escapes', '\u20ac$\u000f\nA\'B"\\"/', '"\u20ac$\\u000f\\nA\'B\\"\\\\\\"/"'],
    ['absent members', { a: undefined, b: null }, '{"b":null}'],
    ['a member called __proto__', JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
  ])('%s', (_, value, text) => expect(canonical(value)).toBe(text))

  it.each([
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate in a name', { '\udc00': 1 }],
    ['NaN', Number.NaN],
    ['Infinity', [Number.POSITIVE_INFINITY]],
    ['a function', () => 1],
  ])('rejects %s', (_, value) => expect(() => canonical(value)).toThrow(TypeError))

  it('is written again from what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonical(value)
        expect(canonical(JSON.parse(text))).toBe(text)
      }),
      { numRuns: runs(1000) },
    )
  })

  const vectors = sharedData('jcs/testdata')
  it.skipIf(vectors === null)('gives the published vectors byte for byte', () => {
    const folder = vectors ?? ''
    const names = readdirSync(join(folder, 'input'))
    expect(names.length).toBe(6)
    for (const name of names) {
      const given = JSON.parse(readFileSync(join(folder, 'input', name), 'utf8'))
      const hex = readFileSync(join(folder, 'outhex', name.replace('.json', '.txt')), 'utf8').replaceAll(/\s/g, '')
      expect(Buffer.from(canonical(given)).toString('hex')).toBe(hex)
    }
  })
})

/** Rejected texts with their message. */
const faults: readonly (readonly [name: string, text: string, message: RegExp])[] = [
  ['duplicate names', '{"a":1,"b":{"a":2},"a":3}', /duplicate member name `a`/],
  ['duplicate names spelt differently', '{"a":1,"\\u0061":2}', /duplicate member name `a`/],
  ['a lone surrogate in an escape', '{"a":"\\ud800"}', /lone surrogate/],
  ['a lone surrogate in a name', '{"\\udc00x":1}', /lone surrogate/],
  ['an integer beyond 2^53-1', '[9007199254740993]', /beyond 2\^53-1/],
  ['a negative one', '{"a":-9007199254740993}', /beyond 2\^53-1/],
  ['a number too large for a double', '[1e999]', /too large/],
  ['nesting deeper than 64', `${'['.repeat(65)}${']'.repeat(65)}`, /deeper than 64/],
  ['an empty text', '', /expected value, found the end/],
  ['a string that does not end', '"abc', /does not end/],
  ['a trailing comma', '[1,]', /a comma before `\]`/],
  ['two values', '{} {}', /expected end/],
  ['a byte order mark', '\ufeff{}', /expected value/],
  ['a single quote', "{'a':1}", /expected name/],
]

describe('strict JSON', () => {
  it.each(faults)('rejects %s', (_, text, message) => expect(parseStrictJson(text).problem?.message).toMatch(message))

  it.each([
    ['{"a":{"x":1},"b":{"x":1}}'],
    ['[9007199254740991,-9007199254740991,1.5e300]'],
    [`${'['.repeat(64)}${']'.repeat(64)}`],
    ['{"a":"\\ud83d\\ude00","b:":"{\\"a\\":1}"}'],
    ['  {"a" : [ true , null ] }\n'],
  ])('reads %s', (text) => expect(parseStrictJson(text)).toEqual({ value: JSON.parse(text), problem: null }))

  it.each([
    ['{"a": hunter2}', 6, /expected value, found something else/],
    ['{"a":1,}', 7, /a comma before `}`/],
    ['[1 2]', 3, /expected , or \]/],
    ['{"a" 1}', 5, /expected :, found/],
    ['{"a":1', 6, /expected , or \}, found the end/],
    ['{"a":"\\x"}', 5, /a string that is not JSON/],
    ['[01]', 2, /expected , or \]/],
    ['[1]]', 3, /expected end, found/],
  ])('reports the offset in %s', (text, offset, message) => {
    const { problem } = parseStrictJson(text)
    expect(problem?.offset).toBe(offset)
    expect(problem?.message).toMatch(message)
  })

  it('reports an offset inside the text for every fault', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', 'x', '\u0001'), (json, at, put) => {
        const cut = at % (json.length + 1)
        const text = json.slice(0, cut) + put + json.slice(cut + 1)
        const { problem } = parseStrictJson(text)
        if (problem !== null && problem.offset !== null) expect(problem.offset).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('does not quote the text in its messages', () => {
    expect(parseStrictJson('{"password": hunter2}').problem?.message).not.toContain('hunter2')
  })

  it('agrees with JSON.parse on everything it accepts, and never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((text) => text.slice(0, -1)),
        ),
        (text) => {
          const reading = parseStrictJson(text)
          if (reading.problem === null) expect(reading.value).toEqual(JSON.parse(text))
          else expect(reading.problem.message).not.toBe('')
        },
      ),
      { numRuns: runs(2000) },
    )
  })
})

describe('the record, format svc.log/1', () => {
  const record = {
    v: 'svc.log/1' as const,
    type: 'step' as const,
    org_id: 'org_00',
    agent_id: 'ag_00000000000000000000000000000000',
    task_id: 'task',
    seq: 1,
    step: 1,
    step_type: 'START_NODE',
    timestamp: '2026-01-05T09:00:00+01:00',
    received_at: '2026-01-05T08:00:00.123Z',
    is_external_call: false,
    has_write_permission: false,
    prev_hash: '',
    api_key_id: 'key_0',
    policy_set: '0'.repeat(64),
    evaluation: '1'.repeat(64),
    data: { input: '2'.repeat(64) },
    after: { ...noCheckpoint },
  }

  it('has these bytes and this hash', () => {
    expect(recordText(record)).toBe(
      `{"after":{"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0},"agent_id":"ag_00000000000000000000000000000000","api_key_id":"key_0","data":{"input":"${'2'.repeat(64)}"},"evaluation":"${'1'.repeat(64)}","has_write_permission":false,"is_external_call":false,"org_id":"org_00","policy_set":"${'0'.repeat(64)}","prev_hash":"","received_at":"2026-01-05T08:00:00.123Z","seq":1,"step":1,"step_type":"START_NODE","task_id":"task","timestamp":"2026-01-05T09:00:00+01:00","type":"step","v":"svc.log/1"}`,
    )
    expect(leafHash(recordText(record))).toBe('7da43b00c0363d9882414306fb33200ed94dfd4d0a6e09fa337ee466a34c6512')
  })

  it('commits to a value under a salt and a field', () => {
    const salt = Buffer.alloc(32, 7)
    const own = commitment('input', { b: 1, a: 'x' }, salt)
    expect(own).toBe('7c7263cb662bd4371c96935763dfe8afd7f328fb8d492243c4eb3d0afbcb53cc')
    expect(commitment('input', { a: 'x', b: 1 }, salt)).toBe(own)
    expect(commitment('output', { a: 'x', b: 1 }, salt)).not.toBe(own)
    expect(commitment('input', { a: 'x', b: 1 }, Buffer.alloc(32, 8))).not.toBe(own)
  })

  it('derives the id of an entry from its time and its hash', () => {
    const id = logIdOf(Date.parse(record.received_at), 'f'.repeat(64))
    expect(id).toMatch(/^log_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Number.parseInt(id.slice(4, 17).replace('-', ''), 16)).toBe(Date.parse(record.received_at))
  })

  it('has a digest for approvals that depends on neither the output nor own properties', () => {
    const step = { step_type: 'LLM_CALL', verb: 'POST', input: { a: 1 }, properties: { x: 1 } }
    const own = actionDigest(step)
    expect(
      actionDigest({
        ...step,
        step_type: 'step.model',
        output: { b: 2 },
        meta: { c: 3 },
        properties: { x: 1, 'svc.subagent': {} },
      }),
    ).toBe(own)
    expect(actionDigest({ ...step, input: { a: 2 } })).not.toBe(own)
  })
})

describe('strict JSON in the fast path and in the scan', () => {
  const valid = [
    '1',
    '-0',
    '0.5',
    '1e5',
    '-1.5E3',
    '9007199254740991',
    '123456789.123456789',
    'true',
    'null',
    '[]',
    '{"a":[{"a":1}]}',
  ]
  const texts = [
    '"41e4649b934ca495991b7852b855"',
    '"1234567890123456789"',
    '":1e400"',
    '"\\u0041"',
    '"\\\\"',
    '"a:b"',
    '"é😀"',
  ]
  const wrong = ['1e400', '9007199254740993', '{"b":1,"b":2}', '[{"c":{},"\\u0063":1}]', '"\\ud800"']
  const member = fc.tuple(
    fc.constantFrom('a', 'b', 'c', '__proto__', 'a:b'),
    fc.constantFrom(...valid, ...texts, ...wrong),
  )
  const space = fc.constantFrom('', ' ', '\n', '\t')

  it('rejects only text that two readers could understand differently', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), space, (members, gap) => {
        const text = `{${members.map(([name, value]) => `${gap}"${name}"${gap}:${gap}${value}`).join(`${gap},`)}${gap}}`
        const names = members.map(([name]) => name)
        const isRejected = new Set(names).size < names.length || members.some(([, value]) => wrong.includes(value))
        const reading = parseStrictJson(text)
        expect(reading.problem !== null).toBe(isRejected)
        if (reading.problem === null) expect(reading.value).toEqual(JSON.parse(text))
      }),
      { numRuns: runs(3000) },
    )
  })
})

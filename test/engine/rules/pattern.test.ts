// Patterns as the rules run them: both engines read them as RE2 does, and neither is slow.
import { compile, type PolicyInput, parseManifest } from '@svc/engine'
import type { RuleContext } from '@svc/engine/parts'
import { baseline } from '@svc/library'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { afterAll, describe, expect, it } from 'vitest'
import { runs } from '../../support/random.js'
import { hangMs } from '../../support/server/hang.js'

type Use = 'anchored' | 'search'
const uses: readonly Use[] = ['anchored', 'search']

/** The pattern as a policy has it: field_matches_regex is anchored at the start, argument_matches searches. */
function compiled(pattern: string, use: Use) {
  const rule_type = use === 'anchored' ? 'field_matches_regex' : 'argument_matches'
  const policy = {
    id: 1,
    name: use,
    rule_type,
    params: { field: 'input', pattern },
    scope: 'step_execution',
    enabled: true,
  }
  return compile([policy as unknown as PolicyInput])
}

function matcherOf(pattern: string, use: Use): (text: string) => boolean {
  const { policies, dropped } = compiled(pattern, use)
  expect(dropped).toEqual([])
  const check = policies[0]?.check
  return (input) =>
    check?.({ step: { step_type: 'step.exec', input }, agent: {}, context: {} } as unknown as RuleContext) === 0
}

/** The answer of RE2, from the matcher of RE2JS. */
function oracleOf(pattern: string, use: Use): (text: string) => boolean {
  const compiled = RE2JS.compile(pattern, RE2JS.DOTALL)
  return (text) => (use === 'anchored' ? compiled.matcher(text).lookingAt() : compiled.matcher(text).find())
}

const rejectionOf = (pattern: string, use: Use) => compiled(pattern, use).dropped[0]?.reason ?? ''

describe('a pattern', () => {
  it.each([
    { pattern: 'b', text: 'ab', anchored: false, search: true },
    { pattern: 'a', text: 'ab', anchored: true, search: true },
    { pattern: 'a|b', text: 'cb', anchored: false, search: true },
    { pattern: 'a.b', text: 'a\nb', anchored: true, search: true },
    { pattern: 'a.b', text: 'a😀b', anchored: true, search: true },
    { pattern: 'a.b', text: 'a\ud83db', anchored: true, search: true },
    { pattern: '^b', text: 'a\nb', anchored: false, search: false },
    { pattern: 'a$', text: 'a\n', anchored: false, search: false },
    { pattern: '\\s', text: '\v', anchored: false, search: false },
    { pattern: '\\s', text: '\u00a0', anchored: false, search: false },
    { pattern: '\\d', text: '٣', anchored: false, search: false },
    { pattern: '\\bé', text: 'éa', anchored: false, search: false },
    { pattern: 'sha256:[0-9a-f]{4}$', text: 'sha256:0af1', anchored: true, search: true },
    { pattern: '(?i)KEY', text: 'a \u212aey', anchored: false, search: true },
    { pattern: '(?P<year>\\d{4})-(?<month>\\d\\d)', text: '2026-01', anchored: true, search: true },
    { pattern: '(?m)^b$', text: 'a\nb\nc', anchored: false, search: true },
    { pattern: '\\pL[[:digit:]]\\x{e9}', text: 'Ж7é', anchored: true, search: true },
    { pattern: '\\Qa.b\\E', text: 'a.b', anchored: true, search: true },
    { pattern: '()', text: '', anchored: true, search: true },
    { pattern: '(?:a{1,100}){1,100}', text: 'xa', anchored: false, search: true },
    { pattern: 'a{0,1000}a{0,1000}', text: 'x', anchored: true, search: true },
    { pattern: '.{0,500}key.{0,500}x', text: 'my key is x', anchored: true, search: true },
  ])('$pattern reads $text as RE2 does', ({ pattern, text, anchored, search }) => {
    expect(uses.map((use) => matcherOf(pattern, use)(text))).toEqual([anchored, search])
  })

  it.each([
    { pattern: '(?<=a)b', reason: 'the look-around `(?<=` at character 1' },
    { pattern: 'a(?!b)', reason: 'the look-around `(?!` at character 2' },
    { pattern: '(.*)*\\1', reason: 'the back-reference `\\1` at character 6' },
    { pattern: 'a{2,1}', reason: 'a count that is not from 0 to 1000' },
    { pattern: 'a{1001}', reason: '`{1001}` at character 2' },
    { pattern: 'a)(b', reason: 'a `)` that closes no group at character 2' },
    { pattern: '(a', reason: 'the pattern `(a` is not valid: unclosed group at character 1' },
    { pattern: '[b-a]', reason: 'a range or class of characters that does not exist `b-a` at character 2' },
    { pattern: '*a', reason: 'a repetition of nothing at character 1' },
    { pattern: `${'(?i)a{0,999}'.repeat(80)}b`, reason: 'too large to run in bounded time' },
    { pattern: `(?i)(?:${'ab'.repeat(400)}){1000}`, reason: 'too large to run in bounded time' },
    { pattern: `b${'(?:a|ab|.b)?'.repeat(80)}[cd]`, reason: 'too large to run in bounded time' },
  ])('$pattern is rejected: $reason', ({ pattern, reason }) => {
    for (const use of uses) expect(rejectionOf(pattern, use)).toContain(reason)
  })

  it.each([
    '(?i)(?:key|api|token|secret|client|passwd|password|auth|access)(?:[0-9a-z\\-_\\t .]{0,20})(?:[\\s|\']|[\\s|"]){0,3}' +
      '(?:=|>|:=|\\|\\|:|<=|=>|:)(?:\'|"|\\s|=|\\x60){0,5}([0-9a-z\\-_.=]{10,150})(?:[\'|"|\\n|\\r|\\s|\\x60|;]|$)',
    '\\beyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}\\b',
    '[a-zA-Z0-9._%+-]{1,64}@[a-zA-Z0-9.-]{1,255}\\.[a-zA-Z]{2,63}',
    '\\b(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|3[47][0-9]{13})\\b',
    '(?i)(password|secret).{0,500}(is|was)\\s+\\S{4,100}!',
    '[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?',
    '\\p{Lu}\\p{Ll}{1,30} \\p{Lu}\\p{Ll}{1,30}',
    '(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|(?:\\d{1,3}\\.){3}\\d{1,3}',
    '(?s)-----BEGIN (?P<kind>[A-Z ]+)-----.*-----END',
  ])('in common use is accepted: %s', (pattern) => {
    for (const use of uses) expect(rejectionOf(pattern, use)).toBe('')
  })
})

it('accepts the baseline', () => {
  expect(parseManifest(baseline().text, baseline().path).errors).toEqual([])
})

describe('both engines', () => {
  const character = fc.constantFrom('a', 'b', 'c', '_', '-', ' ', '0', '\\.', '\\n', 'é', '😀', '\\x41', ']', '}')
  const classes = [
    '.',
    '\\d',
    '\\w',
    '\\s',
    '\\D',
    '\\W',
    '\\S',
    '[ab]',
    '[^a]',
    '[a-c_]',
    '[^\\w]',
    '[\\s\\d-]',
    '[é-ü😀]',
    '[^\\n😀]',
  ]
  const asserted = fc.constantFrom('^', '$', '\\b', '\\B', '\\A', '\\z')
  const times = fc.constantFrom(
    '',
    '',
    '',
    '*',
    '+',
    '?',
    '*?',
    '+?',
    '??',
    '{2}',
    '{0,2}',
    '{1,3}',
    '{2,}',
    '{0}',
    '{3}?',
  )
  const { pattern } = fc.letrec<{ pattern: string; sequence: string; item: string; atom: string }>((tie) => ({
    pattern: fc
      .array(tie('sequence'), { minLength: 1, maxLength: 3, depthIdentifier: 'p' })
      .map((all) => all.join('|')),
    sequence: fc
      .array(fc.oneof({ weight: 6, arbitrary: tie('item') }, { weight: 1, arbitrary: asserted }), { maxLength: 5 })
      .map((all) => all.join('')),
    item: fc.tuple(tie('atom'), times).map((parts) => parts.join('')),
    atom: fc.oneof(
      { depthIdentifier: 'p', maxDepth: 3 },
      { weight: 4, arbitrary: character },
      { weight: 2, arbitrary: fc.constantFrom(...classes) },
      { weight: 2, arbitrary: tie('pattern').map((inner) => `(?:${inner})`) },
      { weight: 1, arbitrary: tie('pattern').map((inner) => `(${inner})`) },
    ),
  }))
  const unit = fc.constantFrom(...'aaabbc_- 0.]}Aé', '😀', '\n', '\r', '\v', '\u2028', '\ufeff', '\ud83d', '\ude00')
  const text = fc.array(unit, { maxLength: 12 }).map((all) => all.join(''))

  it.each(uses)('read patterns alike, %s', (use) => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 8, maxLength: 8 }), (written, texts) => {
        fc.pre(written !== '' && !rejectionOf(written, use).includes('too large'))
        const [ours, oracle] = [matcherOf(written, use), oracleOf(written, use)]
        expect(texts.map(ours)).toEqual(texts.map(oracle))
      }),
      { numRuns: runs(1500) },
    )
  })
})

describe('100,000 characters', () => {
  const length = 100_000
  const repeat = (text: string) => Buffer.from(text.repeat(Math.ceil(length / text.length)).slice(0, length)).toString()
  /** Pseudo-random characters, the same at each run and without a period. */
  const mix = (alphabet: string) => {
    let state = 7
    const next = () => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return alphabet[(state >>> 8) % alphabet.length] ?? ''
    }
    return Buffer.from(Array.from({ length }, next).join('')).toString()
  }
  const hostile: { pattern: string; text: string }[] = [
    { pattern: '((a+)+)+$', text: `${repeat('a')}b` },
    { pattern: '(x+x+)+y', text: repeat('x') },
    { pattern: '(x+x+)+[yz]', text: repeat('x') },
    { pattern: '(a|aa)+$', text: `${repeat('a')}b` },
    { pattern: '(a|a?)+$', text: `${repeat('a')}b` },
    { pattern: '^(\\w+\\s?)*$', text: `${mix('ab ')}!` },
    { pattern: '(.*a){20}', text: repeat('b') },
    { pattern: '(.*a){20}[cd]', text: mix('ab') },
    { pattern: 'a{0,600}a{0,600}[bc]', text: repeat('a') },
    { pattern: '(?:(?:a{1,100}){1,10})[bc]', text: repeat('a') },
    { pattern: '([a-z]+)+@', text: mix('abc') },
    { pattern: '(\\d+)*x', text: repeat('1') },
    { pattern: `${'a{99}'.repeat(12)}b`, text: repeat('a') },
    { pattern: 'a{99}b', text: repeat('a') },
    { pattern: '[ab]{99}c', text: mix('ab') },
    { pattern: 'a[ab]{12}[cd]', text: mix('ab') },
    { pattern: 'a[ab]{20}[cd]', text: mix('ab') },
    { pattern: 'a[ab]{99}[cd]', text: mix('ab') },
    { pattern: 'a[ab]{999}[cd]', text: mix('ab') },
    { pattern: '(?i)a[ab]{999}[cd]', text: mix('aAbBſ') },
    { pattern: '\\pL{1,30}a\\pL{99}[xy]', text: mix('aébзЖ一') },
    { pattern: '(?:\\pL\\pN?){60}[!?]', text: mix('aé1٣') },
    { pattern: '(?i)(?:key|token).{0,40}[0-9a-z]{32}[!?]', text: repeat('keytoken kEy0') },
    { pattern: '(?i)(?:[ab]..?|.[ab]{3}){40}[cd]', text: mix('abAB') },
    { pattern: '[ab]*a(?:[ab][ab][ab]?){80}[cd]', text: mix('ab') },
    { pattern: '(?:.*a){40}[cd]', text: mix('ab') },
    { pattern: '\\b(?:a|b |[ab]b|b){40}\\b[cd]$', text: mix('ab ') },
    { pattern: '(?m)^(?:a|b|\\n)*$[cd]', text: mix('ab\n') },
    { pattern: '(?:(?:(?:a|b)|(?:a|c))|(?:(?:a|d)|(?:a|e)))+$', text: `${mix('abcde')}f` },
    { pattern: '(?:(?:a?){9}){9}[bc]', text: repeat('a') },
    { pattern: '(?:a?){99}a{99}[bc]', text: repeat('a') },
    { pattern: '.*.*.*.*.*.*.*.*.*[bc]', text: repeat('a') },
    { pattern: '(?:a+b?)+(?:a+c?)+(?:a+d?)+[xy]', text: mix('abcd') },
    { pattern: '[\\w.+-]+@[\\w-]+\\.[\\w.-]{2,}', text: mix('a@-.') },
    { pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----', text: repeat('-----BEGIN PRIVATE KEY----') },
    { pattern: '(?:[^"\\\\]|\\\\.)*"$', text: repeat('\\') },
    { pattern: '(?:😀|.)*😁[xy]', text: Buffer.from('😀😁'.repeat(length / 4)).toString() },
    { pattern: `b${'a'.repeat(900)}`, text: repeat('a') },
    { pattern: `${'a'.repeat(450)}b${'a'.repeat(450)}`, text: repeat(`${'a'.repeat(449)}b${'a'.repeat(449)}c`) },
    { pattern: `(?:${'a'.repeat(400)}b|${'a'.repeat(400)}c)`, text: repeat('a') },
    {
      pattern: `[${Array.from({ length: 300 }, (_, at) => String.fromCharCode(0x4e00 + 2 * at)).join('')}]{50}x`,
      text: repeat('一'),
    },
    {
      pattern: `(?:${Array.from({ length: 99 }, (_, at) => String.fromCharCode(0x4e00 + at)).join('|')})+!`,
      text: mix('一丁丂七'),
    },
    { pattern: `${'(?:a|b|ab)'.repeat(60)}[cd]`, text: mix('ab') },
    { pattern: '(?:ab?){99}[!?]', text: mix('ab') },
    { pattern: '(a{1,30}){1,30}$', text: `${repeat('a')}b` },
    { pattern: '((((((a*)*)*)*)*)*)*[bc]', text: repeat('a') },
  ]

  it.each(hostile)('do not hang: $pattern', ({ pattern, text }) => {
    for (const use of uses) {
      const rejected = rejectionOf(pattern, use)
      if (rejected !== '') {
        expect(rejected).toContain('too large')
        continue
      }
      const matches = matcherOf(pattern, use)
      const took = [1, 2, 3].map(() => {
        const began = performance.now()
        matches(text)
        return performance.now() - began
      })
      const [slowest, fastest] = [Math.max(...took), Math.min(...took)].map((ms) => ms.toFixed(1))
      figures.push(`${slowest} ms, again ${fastest} ms, ${use}: ${pattern.slice(0, 60)}`)
      expect(Math.min(...took)).toBeLessThan(hangMs)
    }
  })

  const figures: string[] = []
  afterAll(() => {
    const slowest = figures.sort((a, b) => Number.parseFloat(b) - Number.parseFloat(a)).slice(0, 10)
    process.stdout.write(`slowest of ${figures.length}:\n${slowest.join('\n')}\n`)
  })
})

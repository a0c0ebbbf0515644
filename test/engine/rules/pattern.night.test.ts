// The long run of pattern.test.ts: more syntax compared with RE2, and long texts made of text that the patterns match.
import { compile, type PolicyInput } from '@svc/engine'
import type { RuleContext } from '@svc/engine/parts'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, it } from 'vitest'
import { hangMs } from '../../support/server/hang.js'

type Use = 'anchored' | 'search'
/** The long run has SVC_PATTERNS=40000, and a tenth of them on long texts. */
const count = Number(process.env.SVC_PATTERNS ?? 10_000)
const uses: readonly Use[] = ['anchored', 'search']

/** A test for texts, or the reason why the pattern is rejected. */
function matcherOf(pattern: string, use: Use): ((text: string) => boolean) | string {
  const rule_type = use === 'anchored' ? 'field_matches_regex' : 'argument_matches'
  const params = { field: 'input', pattern }
  const policy = { id: 1, name: use, rule_type, params, scope: 'step_execution', enabled: true }
  const { policies, dropped } = compile([policy as unknown as PolicyInput])
  const check = policies[0]?.check
  if (check === undefined) return dropped[0]?.reason ?? ''
  return (input) =>
    check({ step: { step_type: 'step.exec', input }, agent: {}, context: {} } as unknown as RuleContext) === 0
}

/** A part of a pattern, and a text it may match. */
type Part = readonly [pattern: string, sample: string]

const parts: readonly Part[] = [
  ...'abc_- 0]}é'.split('').map((one): Part => [one, one]),
  ...['.', '\\w', '\\S', '[ab]', '[^c]', '[a-z]', '\\D', '(?i:A)', '\\pL', '[[:alpha:]]'].map(
    (one): Part => [one, 'a'],
  ),
  ...['\\d', '\\W', '[^\\x00-\\x7f]', '\\PL', '[\\s\\d-]', '[-_]', '[!-0]'].map((one): Part => [one, '0']),
  ['😀', '😀'],
  ['\\s', '\n'],
  ['[é-ü😀]', 'é'],
  ['\\x{1f600}', '😀'],
  ['\\x41', 'A'],
  ['\\.', '.'],
  ['\\Qa.\\E', 'a.'],
  ['(?s:.)', '\n'],
  ['(?-s:.)', 'b'],
  ['(?i:ks)', '\u212aſ'],
]
const asserted = fc.constantFrom('^', '$', '\\b', '\\B', '\\A', '\\z', '(?m:^)', '(?m:$)').map((one): Part => [one, ''])
const few = [
  ['', 1],
  ['', 1],
  ['*', 2],
  ['+', 1],
  ['?', 1],
  ['*?', 0],
  ['{2}', 2],
  ['{1,3}', 2],
  ['{2,}', 3],
  ['{0}', 0],
] as const
const many = [...few, ['{20}', 20], ['{99}', 99], ['{0,99}', 50], ['{5,}', 7], ['{200}', 200]] as const

function patterns(times: readonly (readonly [string, number])[]): fc.Arbitrary<Part> {
  const join = (all: readonly Part[]): Part => [
    all.map(([one]) => one).join(''),
    all
      .map(([, one]) => one)
      .join('')
      .slice(0, 3000),
  ]
  return fc.letrec<{ choice: Part; sequence: Part; item: Part; atom: Part }>((tie) => ({
    choice: fc
      .array(tie('sequence'), { minLength: 1, maxLength: 3, depthIdentifier: 'parts' })
      .map((all): Part => [all.map(([one]) => one).join('|'), all[0]?.[1] ?? '']),
    sequence: fc
      .array(fc.oneof({ weight: 7, arbitrary: tie('item') }, { weight: 1, arbitrary: asserted }), { maxLength: 5 })
      .map(join),
    item: fc
      .tuple(tie('atom'), fc.constantFrom(...times))
      .map(([[one, sample], [count, copies]]): Part => [`${one}${count}`, sample.repeat(copies).slice(0, 3000)]),
    atom: fc.oneof(
      { depthIdentifier: 'parts', maxDepth: 3 },
      { weight: 5, arbitrary: fc.constantFrom(...parts) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(tie('choice'), fc.constantFrom('(?:', '(', '(?i:', '(?P<n>'))
          .map(([[one, sample], open]): Part => [`${open}${one})`, sample]),
      },
    ),
  })).choice
}

const unit = fc.constantFrom(
  ...'aaabbc_- 0.]}AéK\u212aſs',
  '😀',
  '\n',
  '\r',
  '\v',
  '\u2028',
  '\ufeff',
  '\ud83d',
  '\ude00',
)
const text = fc.array(unit, { maxLength: 14 }).map((all) => all.join(''))

it.each(uses)('both engines read patterns alike, %s', (use) => {
  let compared = 0
  fc.assert(
    fc.property(patterns(few), fc.array(text, { minLength: 10, maxLength: 10 }), ([written, sample], texts) => {
      const ours = matcherOf(written, use)
      const oracle = oracleOf(written, use)
      fc.pre(oracle !== null && written !== '' && !(typeof ours === 'string' && ours.includes('too large')))
      if (typeof ours === 'string' || oracle === null) throw new Error(`rejected: ${ours}`)
      for (const one of [sample, `${sample}a`, `a${sample}`, sample.slice(1), ...texts]) {
        compared += 1
        if (ours(one) !== oracle(one)) throw new Error(`${JSON.stringify(one)} is read as ${ours(one)}`)
      }
    }),
    { numRuns: count, maxSkipsPerRun: 1000 },
  )
  process.stdout.write(`${use}: ${compared} answers compared\n`)
})

function oracleOf(pattern: string, use: Use): ((text: string) => boolean) | null {
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.DOTALL)
    return (one) => (use === 'anchored' ? compiled.matcher(one).lookingAt() : compiled.matcher(one).find())
  } catch {
    return null
  }
}

it('no pattern takes long for 100,000 characters that nearly match', () => {
  const length = 100_000
  const grow = (one: string) =>
    Buffer.from(one.repeat(Math.ceil(length / Math.max(one.length, 1))).slice(0, length)).toString()
  let [slowest, of, accepted] = [0, '', 0]
  fc.assert(
    fc.property(patterns(many), ([written, sample]) => {
      const texts = [sample, sample.slice(0, -1), `${sample.slice(0, -1)}\n`, sample.slice(1), 'a', 'ab0é '].map(grow)
      for (const use of uses) {
        const matches = matcherOf(written, use)
        if (typeof matches === 'string') continue
        accepted += 1
        for (const one of texts) {
          const took = Math.min(
            timed(() => matches(one)),
            timed(() => matches(one)),
          )
          if (took > slowest) [slowest, of] = [took, `${use}: ${written}`]
          expect(took).toBeLessThan(hangMs)
        }
      }
    }),
    { numRuns: Math.ceil(count / 10), endOnFailure: true },
  )
  process.stdout.write(`slowest of ${accepted}: ${slowest.toFixed(1)} ms, ${of}\n`)
})

function timed(run: () => void): number {
  const began = performance.now()
  run()
  return performance.now() - began
}

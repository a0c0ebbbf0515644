// Deeply nested manifests: a part beyond the limit is rejected alone, and no stack overflows.
import { execFileSync } from 'node:child_process'
import { compile, type PolicyInput, parseManifest } from '@svc/engine'
import { maxCompoundDepth, maxPolicyDepth } from '@svc/proof'
import { describe, expect, it } from 'vitest'

const gate = '{ rule_type: step_requires_gate }'
const wrapped = (levels: number) =>
  `${'{ rule_type: not, params: { condition: '.repeat(levels)}${gate}${' } }'.repeat(levels)}`
const policy = (name: string, params: string, rule_type = 'not') =>
  `  - { name: ${name}, rule_type: ${rule_type}, params: ${params}, scope: step_execution, severity: low }\n`
/** A policy of that many compound rules inside each other. */
const nested = (name: string, levels: number) => policy(name, `{ condition: ${wrapped(levels - 1)} }`)
const lists = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const manifest = (...policies: string[]) => `name: A\nversion: "1"\npolicies:\n${policies.join('')}`
const limit = 'must have at most 1,000 conditions inside each other and 3,200 levels in all: split it'

function namesAndErrors(text: string) {
  const { value, errors } = parseManifest(text, 'a.yaml')
  return { names: value?.policies.map(({ name }) => name), errors: errors.map(({ path, message }) => [path, message]) }
}

describe('a manifest', () => {
  it.each([1, 98, 99, 500, maxCompoundDepth])('with %i compound rules inside each other is read', (levels) => {
    const text = manifest(nested('P', levels), nested('Q', 1))
    expect(namesAndErrors(text)).toEqual({ names: ['P', 'Q'], errors: [] })
  })

  it.each([maxCompoundDepth + 1, 1500, 3000])('with %i loses only that policy', (levels) => {
    const text = manifest(nested('A', 1), nested('P', levels), nested('Q', 2))
    expect(namesAndErrors(text)).toEqual({
      names: ['A', 'Q'],
      errors: [['policies.1.params', `\`policies[1].params\` ${limit}`]],
    })
  })

  it('with a value that is too deep loses only that policy, waiver or test', () => {
    const values = policy('P', `{ field: verb, values: ${lists(maxPolicyDepth + 1)} }`, 'field_in_list')
    const tests = `tests:\n  - { name: t, step: { step_type: step.exec, input: { a: ${lists(5000)} } }, expect: { action: allow } }\n`
    const text = `${manifest(values, nested('Q', 1))}${tests}metadata: { a: ${lists(9000)} }\n`
    expect(namesAndErrors(text)).toEqual({
      names: ['Q'],
      errors: [
        ['policies.0.params', `\`policies[0].params\` ${limit}`],
        ['tests.0', `\`tests[0]\` ${limit}`],
        ['metadata', `\`metadata\` ${limit}`],
      ],
    })
  })

  it('keeps positions, anchors and values in deep parts', () => {
    const inner = '{ rule_type: field_in_list, params: &p { field: a..b, values: [1, &v [2], *v] } }'
    const levels = 200
    const deep = `{ condition: ${'{ rule_type: not, params: { condition: '.repeat(levels)}${inner}${' } }'.repeat(levels)} }`
    const [error] = parseManifest(manifest(policy('P', deep), policy('Q', '*p', 'field_in_list')), 'a.yaml').errors
    expect(error).toMatchObject({
      id: 'wrong-value',
      line: 4,
      column: policy('P', deep).indexOf('a..b') + 1,
    })
    const valid = deep.replace('a..b', 'verb')
    const { value, errors } = parseManifest(manifest(policy('P', valid), policy('Q', '*p', 'field_in_list')), 'a.yaml')
    expect(errors).toEqual([])
    expect(value?.policies[1]?.params).toEqual({ field: 'verb', values: [1, [2], [2]] })
  })

  it('means the same at every depth: in brackets, in lines and behind anchors', () => {
    const levels = 150
    const flow = `${Array.from({ length: levels }, (_, level) => `&a${level} {x: [${level}, `).join('')}end${']}'.repeat(levels)}`
    const lines = Array.from({ length: levels }, (_, level) => `${' '.repeat(level + 2)}k${level}: &b${level}\n`).join(
      '',
    )
    const aliases = Array.from({ length: 4 }, (_, index) => `*a${62 + index}, *b${62 + index}`).join(', ')
    const text = `${manifest(nested('P', 1))}metadata:\n  flow: ${flow}\n  lines:\n${lines.replace(/^/gm, '  ').trimEnd()} end\n  again: [${aliases}]\n`
    const { value, errors } = parseManifest(text, 'a.yaml')
    expect(errors).toEqual([])
    const expected = (from: number) => {
      let inFlow: unknown = 'end'
      let inLines: unknown = 'end'
      for (let level = levels - 1; level >= from; level--) {
        inFlow = { x: [level, inFlow] }
        if (level > from) inLines = { [`k${level}`]: inLines }
      }
      return [inFlow, inLines]
    }
    const [flowValue, linesValue] = expected(0)
    expect(value?.metadata).toEqual({
      flow: flowValue,
      lines: { k0: linesValue },
      again: [62, 63, 64, 65].flatMap(expected),
    })
  })

  it.each([
    { what: 'brackets', text: `a: ${lists(10_001)}\n` },
    { what: 'dashes', text: `${'- '.repeat(10_001)}a\n` },
    { what: 'open brackets', text: '['.repeat(250_000) },
  ])('that cannot be read names the limit: $what', ({ text }) => {
    const message = 'nested deeper than 10000 levels: close brackets that are open, or split the value'
    expect(namesAndErrors(text)).toEqual({ names: undefined, errors: [['', message]] })
  })
})

describe('a stored policy', () => {
  const stored = (id: number, levels: number) => {
    let params: object = { condition: { rule_type: 'step_requires_gate' } }
    for (let level = 1; level < levels; level++) params = { condition: { rule_type: 'not', params } }
    const input = { id, version: 1, name: `P${id}`, rule_type: 'not', params, scope: 'step_execution', severity: 'low' }
    return { ...input, enabled: true, mode: 'enforce', manifest_path: null } as unknown as PolicyInput
  }

  it('has the same limit, and is rejected alone', () => {
    const set = compile([stored(1, 1), stored(2, maxCompoundDepth), stored(3, maxCompoundDepth + 1), stored(4, 50_000)])
    expect(set.policies.map(({ policy: { id } }) => id)).toEqual([1, 2])
    expect(set.dropped.map(({ policy_id, reason }) => [policy_id, reason])).toEqual([
      [3, `\`params\` ${limit}`],
      [4, `\`params\` ${limit}`],
    ])
  })
})

describe('a small stack', () => {
  it.each([500, 200])('of %i KB is enough for every depth, however much of it is in use', (size) => {
    const program = `
      const { parseManifest, compile } = await import(${JSON.stringify(new URL('../../../engine/dist/index.js', import.meta.url).href)})
      const texts = JSON.parse((await import('node:fs')).readFileSync(0, 'utf8'))
      const within = (frames, work) => (frames === 0 ? work() : [within(frames - 1, work)][0])
      for (const text of texts) {
        const { value, errors } = within(300, () => parseManifest(text, 'a.yaml'))
        console.log((value?.policies ?? []).map(({ name }) => name).join(), errors.map(({ id }) => id).join())
      }`
    const texts = [
      manifest(nested('P', maxCompoundDepth), nested('Q', 1)),
      manifest(nested('P', maxCompoundDepth + 1), nested('Q', 1)),
      `a: ${lists(9_000)}\n`,
      '{a: '.repeat(9_999),
    ]
    const input = JSON.stringify(texts)
    const args = [`--stack-size=${size}`, '--input-type=module', '-e', program]
    expect(execFileSync(process.execPath, args, { input, encoding: 'utf8' }).split('\n')).toEqual([
      'P,Q ',
      'Q over-limit',
      ' missing-key,missing-key,missing-key,unknown-key,over-limit',
      ' yaml-bracket',
      '',
    ])
  })
})

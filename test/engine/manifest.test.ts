// Reading manifests: what is right, what is wrong and where, and what is hostile.
import { readFileSync } from 'node:fs'
import {
  createChecker,
  type ManifestError,
  manifestIdOf,
  manifestSchema,
  materialise,
  parseManifest,
  parseTestFile,
  runTests,
  waivedUntil,
} from '@svc/engine'
import { documents } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const folder = new URL('../cases/manifests/', import.meta.url)
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8')

interface BrokenManifest {
  readonly name: string
  readonly text: string
  readonly errors: readonly Partial<ManifestError>[]
  readonly policies?: readonly string[]
}

describe('broken manifests', () => {
  const broken = parse(textOf('errors.yaml')) as BrokenManifest[]

  it.each(broken)('$name', ({ text, errors, policies }) => {
    const reading = parseManifest(text, 'a.yaml')
    const expected = errors.map((error) => ({
      ...error,
      file: 'a.yaml',
      message: expect.stringContaining(error.message ?? ''),
    }))
    expect(reading.errors).toEqual(expected.map((error) => expect.objectContaining(error)))
    expect(reading.value?.policies.map((policy) => policy.name)).toEqual(policies)
    expect(reading.lines).toHaveLength(policies?.length ?? reading.lines.length)
  })

  it('are covered for every kind of error', () => {
    const codes = new Set(broken.flatMap((one) => one.errors.map((error) => error.code)))
    expect([...codes].sort()).toEqual(['DUPLICATE_NAME', 'RULE', 'SHAPE', 'UNKNOWN_POLICY', 'UNREADABLE'])
  })
})

describe('a manifest with everything', () => {
  const { value, errors, lines } = parseManifest(textOf('refund-desk.yaml'), 'refund-desk.yaml')
  if (value === null) throw new Error('refund-desk.yaml cannot be read')

  it('has no errors and says where each policy stands', () => {
    expect(errors).toEqual([])
    expect(lines).toEqual([5, 12, 19, 25, 30])
  })

  it('fits the generated schema, and the published one is the generated one', () => {
    expect(createChecker([manifestSchema()])('manifest.json')(value)).toEqual([])
    expect(documents.manifest).toEqual(manifestSchema())
  })

  it('passes its own tests', () => {
    expect(runTests(value).filter((result) => !result.passed)).toEqual([])
    expect(runTests(value)).toHaveLength(12)
  })

  it('is judged by a sibling file too, which says what was expected and what came', () => {
    const names = value.policies.map((policy) => policy.name)
    const file = parseTestFile(textOf('refund-desk.test.yaml'), 'refund-desk.test.yaml', names)
    expect(file.errors).toEqual([])
    expect(runTests(value, file.value ?? []).map((result) => result.failures)).toEqual([
      [],
      ['expected block, decided allow', 'expected to be violated: Refunds need a fresh approval'],
      ['violated as well: Refunds need a fresh approval'],
    ])
  })

  it('puts on an agent what is not above its level', () => {
    const assignment = {
      source: 'https://git.example/policies.git',
      path: 'refund-desk.yaml',
      sha: '0123456789012345678901234567890123456789',
      agent: { agent_id: 'ag_1', risk_classification: 'limited' as const },
      assigned_at: '2026-01-05T09:00:00Z',
      assigned_by: 'usr_1',
    }
    const { policies, skipped, manifest_id } = materialise(value, assignment)
    expect(skipped).toEqual(['Secrets stay away from high risk'])
    expect(policies.map((policy) => policy.name)).not.toContain('Secrets stay away from high risk')
    expect(manifest_id).toBe('man_41615363aeebd0aa817ba68e3992c605')
    expect(manifest_id).toBe(manifestIdOf(assignment.source, assignment.path))
    expect(policies[0]).toEqual({
      name: 'Refunds need a fresh approval',
      rule_type: 'step_requires_gate',
      params: { target_step_names: ['refund'], gate_check_type: 'human_approval', max_age_steps: 3 },
      scope: 'step_execution',
      severity: 'critical',
      description: 'A person has approved within the last three steps. Whom it was shown to is not known.',
      risk_classification: null,
      agent_id: 'ag_1',
      enabled: true,
      mode: 'enforce',
      controls: ['ASI09', 'EU-AI-Act:14'],
      manifest_id,
      manifest_name: 'Refund desk',
      manifest_repo: assignment.source,
      manifest_path: 'refund-desk.yaml',
      manifest_sha: assignment.sha,
      manifest_assigned_at: '2026-01-05T09:00:00Z',
      manifest_assigned_by: 'usr_1',
    })
  })

  it.each(['unclassified', 'high', 'unacceptable'] as const)('skips nothing for an agent of level %s', (level) => {
    const agent = { agent_id: 'ag_1', risk_classification: level }
    const assignment = { source: 'bundled', path: 'a.yaml', sha: '', agent, assigned_at: null, assigned_by: null }
    const { policies, skipped } = materialise(value, assignment)
    expect([policies.length, skipped, policies[0]?.manifest_repo]).toEqual([5, [], null])
  })

  it('waives until the end of the day, of two waivers the longer', () => {
    const [waiver] = value.waivers ?? []
    if (waiver === undefined) throw new Error('refund-desk.yaml has no waiver')
    const longer = { ...value, waivers: [{ ...waiver, expires: '2026-03-01' }, waiver] }
    const until = (manifest: typeof value, agent_key: string) => [...waivedUntil(manifest, agent_key).values()]
    expect(until(value, 'refund-night-batch')).toEqual([Date.UTC(2026, 1, 1)])
    expect(until(longer, 'refund-night-batch')).toEqual([Date.UTC(2026, 2, 2)])
    expect(until(value, 'refund-day')).toEqual([])
  })
})

describe('test files', () => {
  it.each([
    {
      text: 'tests: [{ name: a, step: { step_type: step.exec }, expect: { violated: [Q] } }]',
      code: 'UNKNOWN_POLICY',
      column: 73,
    },
    { text: 'test: []', code: 'SHAPE', column: 1 },
    { text: 'tests: [{ name: a, expect: { action: block } }]', code: 'SHAPE', column: 9 },
    { text: 'tests: [', code: 'UNREADABLE', column: 9 },
  ])('are refused with line and column: $text', ({ text, code, column }) => {
    const { value, errors } = parseTestFile(text, 'a.test.yaml', ['P'])
    expect(value).toBeNull()
    expect(errors).toContainEqual(expect.objectContaining({ code, line: 1, column, file: 'a.test.yaml' }))
  })
})

describe('large manifests', () => {
  const policy = (name: string) =>
    `  - { name: ${name}, rule_type: field_not_empty, params: { field: a }, scope: step_execution, severity: low }\n`
  const manifest = (count: number) =>
    `name: A\nversion: "1"\npolicies:\n${Array.from({ length: count }, (_, index) => policy(`P${index}`)).join('')}`

  it('of 1,000 policies are read', () => {
    const { value, errors, lines } = parseManifest(manifest(1000), 'a.yaml')
    expect(errors).toEqual([])
    expect([value?.policies.length, lines.at(-1)]).toEqual([1000, 1003])
  })

  it('of 1,001 policies are not', () => {
    const { value, errors } = parseManifest(manifest(1001), 'a.yaml')
    expect(value).toBeNull()
    expect(errors).toEqual([expect.objectContaining({ code: 'SHAPE', line: 4, column: 3, path: 'policies' })])
  })

  it('with conditions a hundred deep are read', () => {
    const condition = `${'{ rule_type: not, params: { condition: '.repeat(100)}{ rule_type: step_requires_gate }${' } }'.repeat(100)}`
    const text = `name: A\nversion: "1"\npolicies:\n  - { name: P, rule_type: not, params: { condition: ${condition} }, scope: step_execution, severity: low }\n`
    expect(parseManifest(text, 'a.yaml').errors).toEqual([])
  })

  it('may repeat a part by aliases', () => {
    const many = Array.from({ length: 900 }, () => '{ step_type: step.model, properties: *p }').join(', ')
    const test = `  - { name: t, history: [${many}], step: { step_type: step.exec, properties: &q {} }, expect: { violated: [] } }`
    const shared =
      'description: A\ntests:\n  - { name: s, step: { step_type: step.exec, properties: &p { a: 1 } }, expect: { action: allow } }\n'
    const { value, errors } = parseManifest(`${manifest(1)}${shared}${test}\n`, 'a.yaml')
    expect(errors).toEqual([])
    expect(value?.tests?.[1]?.history).toHaveLength(900)
  })
})

describe('hostile manifests', () => {
  const laughs = ['a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]']
  for (let level = 1; level < 30; level++) {
    laughs.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ')}]`)
  }
  const long = 'x'.repeat(100_000)
  const hostile: { name: string; text: string; message: string }[] = [
    { name: 'a billion laughs', text: `${laughs.join('\n')}\n`, message: 'aliases expand too far' },
    {
      name: 'a long text repeated by aliases',
      text: `a: &a ${long}\nb: [${Array.from({ length: 100 }, () => '*a').join(', ')}]\n`,
      message: 'aliases expand too far',
    },
    { name: 'thousands of aliases', text: `a: &a 1\nb: [${'*a,'.repeat(60_000)}]\n`, message: 'anchors and aliases' },
    {
      name: 'thousands of anchors',
      text: `a: [${Array.from({ length: 20_000 }, (_, index) => `&a${index} 1`).join(',')}]\n`,
      message: 'anchors and aliases',
    },
    { name: 'brackets without end', text: '['.repeat(250_000), message: '' },
    { name: 'brackets that end', text: `a: ${'['.repeat(1000)}${']'.repeat(1000)}\n`, message: 'nested too deeply' },
    { name: 'lists in lists in lists', text: `${'- '.repeat(50_000)}a\n`, message: 'nested too deeply' },
    { name: 'braces without end', text: '{a: '.repeat(60_000), message: '' },
    {
      name: 'thousands of keys',
      text: Array.from({ length: 25_000 }, (_, index) => `k${index}: 1\n`).join(''),
      message: 'is missing',
    },
    {
      name: 'thousands of empty policies',
      text: `policies: [${'{},'.repeat(80_000)}]\n`,
      message: 'more than 1000 items',
    },
    {
      name: 'thousands of tests and a policy that is none',
      text: `name: A\nversion: "1"\npolicies: [null]\ntests: [${'{},'.repeat(2000)}]\n`,
      message: 'more than 1000 items',
    },
    {
      name: 'thousands of errors',
      text: `tests: [{ history: [${'{},'.repeat(80_000)}] }]\n`,
      message: 'is missing',
    },
    { name: 'thousands of bad keys', text: `a: [${'{1: 1},'.repeat(30_000)}]\n`, message: 'a key must be plain text' },
    { name: 'a file beyond 256 KiB', text: `name: ${'x'.repeat(256 * 1024)}\n`, message: 'larger than 256 KiB' },
    {
      name: 'a file beyond 256 KiB in bytes only',
      text: `name: ${'ä'.repeat(140_000)}\n`,
      message: 'larger than 256 KiB',
    },
    { name: 'a lone surrogate', text: 'name: A\nversion: \ud800\n', message: 'a lone surrogate' },
    { name: 'a NUL', text: 'name: A\0\n', message: 'a control character' },
    { name: 'a comment without end', text: `# ${'x'.repeat(200_000)}`, message: 'the file is empty' },
    { name: 'quotes without end', text: `a: "${'x'.repeat(200_000)}`, message: 'not valid YAML' },
    { name: 'thousands of documents', text: '---\na\n'.repeat(40_000), message: 'more than one document' },
    { name: 'thousands of tags', text: `a: [${'!x 1,'.repeat(40_000)}]\n`, message: 'not valid YAML' },
  ]

  it.each(hostile)('$name: refused, soon', ({ text, message }) => {
    const started = performance.now()
    const { value, errors } = parseManifest(text, 'a.yaml')
    // Two seconds is the bar for any hostile input (quality.md §2); on a free core the slowest takes a quarter of one.
    expect(performance.now() - started).toBeLessThan(2000)
    expect(value).toBeNull()
    expect(errors.length).toBeGreaterThan(0)
    expect(errors.length).toBeLessThanOrEqual(1000)
    expect(errors[0]?.message).toContain(message)
  })

  it('names the place of a lone surrogate', () => {
    const [error] = parseManifest('name: A\nversion: \ud800\n', 'a.yaml').errors
    expect(error).toMatchObject({ code: 'UNREADABLE', line: 2, column: 10 })
  })

  it('refuses a billion laughs within 100 ms', () => {
    const text = `${laughs.join('\n')}\n`
    const times = Array.from({ length: 5 }, () => {
      const started = performance.now()
      expect(parseManifest(text, 'a.yaml').value).toBeNull()
      return performance.now() - started
    })
    expect(Math.min(...times)).toBeLessThan(100)
  })

  it('are never thrown at, whatever is cut out of a manifest or put into it', () => {
    const sound = textOf('refund-desk.yaml')
    const pieces = [
      'null',
      '[',
      '{',
      '- ',
      ': ',
      '"',
      '*a ',
      '&a ',
      '!!set ',
      '\n',
      '\t',
      '3',
      'policies:',
      '? ',
      '#',
      '|',
      '\ud800',
    ]
    const place = fc.nat(sound.length)
    fc.assert(
      fc.property(place, fc.nat(40), fc.constantFrom(...pieces), place, (at, cut, piece, other) => {
        const once = `${sound.slice(0, at)}${piece}${sound.slice(at + cut)}`
        const { value, errors } = parseManifest(`${once.slice(0, other)}${piece}${once.slice(other)}`, 'a.yaml')
        for (const { line, column } of errors) expect(line * column).toBeGreaterThan(0)
        if (value !== null) expect(runTests(value)).toHaveLength(value.tests?.length ?? 0)
      }),
      { numRuns: 500 },
    )
  })

  it('leaves no trace on the prototype of objects', () => {
    parseManifest('name: A\nversion: "1"\n__proto__: { polluted: 1 }\npolicies: []\n', 'a.yaml')
    expect('polluted' in {}).toBe(false)
  })
})

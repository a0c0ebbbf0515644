// Reading manifests: valid ones, and the position of each error.
import { readFileSync } from 'node:fs'
import { manifestIdOf, materialise, parseManifest, rules, runTests } from '@svc/engine'
import { createChecker, type Finding, manifestSchema, parseTestFile, waivedUntil } from '@svc/engine/parts'
import { documents } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { manifestKinds } from '../../../engine/findings/manifest-kinds.js'
import { yamlKinds } from '../../../engine/findings/yaml-kinds.js'
import { unknownWordsIn } from '../../../engine/manifest/parse/unknown-words.js'

const folder = new URL('../../cases/manifests/', import.meta.url)
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8')

interface BrokenManifest {
  readonly name: string
  readonly text: string
  readonly errors: readonly Partial<Finding>[]
  readonly warnings?: readonly Partial<Finding>[]
  readonly policies?: readonly string[]
}

describe('broken manifests', () => {
  const broken = ['errors.yaml', 'syntax.yaml'].flatMap((name) => parse(textOf(name)) as BrokenManifest[])

  it.each(broken)('$name', ({ text, errors, warnings = [], policies }) => {
    const reading = parseManifest(text, 'a.yaml')
    const placed = (findings: readonly object[]) =>
      findings.map((finding) => expect.objectContaining({ ...finding, file: 'a.yaml' }))
    expect(reading.errors).toEqual(placed(errors))
    expect(reading.warnings).toEqual(placed(warnings))
    expect(reading.value?.policies.map((policy) => policy.name)).toEqual(policies)
    expect(reading.lines).toHaveLength(policies?.length ?? reading.lines.length)
  })

  it('are covered for every kind of finding about a text and its members', () => {
    const ids = new Set(broken.flatMap((one) => [...one.errors, ...(one.warnings ?? [])].map(({ id }) => id)))
    const elsewhere = ['expired-waiver', 'far-waiver', 'unreadable-file', 'no-manifest']
    const kinds = [...yamlKinds, ...manifestKinds]
    expect(kinds.map(({ id }) => id).filter((id) => !ids.has(id) && !elsewhere.includes(id))).toEqual([])
  })
})

describe('a manifest with everything', () => {
  const { value, errors, lines } = parseManifest(textOf('refund-desk.yaml'), 'refund-desk.yaml')
  if (value === null) throw new Error('refund-desk.yaml cannot be read')

  it('has no errors and the line of each policy', () => {
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

  it('is tested by a sibling file too, whose failures have the expected and the actual result', () => {
    const names = value.policies.map((policy) => policy.name)
    const file = parseTestFile(textOf('refund-desk.test.yaml'), 'refund-desk.test.yaml', names)
    expect(file.errors).toEqual([])
    expect(runTests(value, file.value ?? []).map((result) => result.failures)).toEqual([
      [],
      ['expected the action block, got allow', 'expected to be violated, but not: `Refunds need a fresh approval`'],
      ['violated, but not expected: `Refunds need a fresh approval`'],
    ])
  })

  it('gives an agent the policies that are not above its level', () => {
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

  it('waives until the end of the day, by the longer of two waivers', () => {
    const [waiver] = value.waivers ?? []
    if (waiver === undefined) throw new Error('refund-desk.yaml has no waiver')
    const longer = { ...value, waivers: [{ ...waiver, expires: '2026-03-01' }, waiver] }
    const until = (manifest: typeof value, agent_key: string) => [...waivedUntil(manifest, agent_key).values()]
    expect(until(value, 'refund-night-batch')).toEqual([Date.UTC(2026, 1, 1)])
    expect(until(longer, 'refund-night-batch')).toEqual([Date.UTC(2026, 2, 2)])
    expect(until(value, 'refund-day')).toEqual([])
  })
})

describe('the examples of the rules', () => {
  it.each(rules)('use only known words: $name', ({ example, scopes }) => {
    expect(unknownWordsIn(example, scopes[0])).toEqual([])
  })
})

describe('test files', () => {
  it.each([
    {
      text: 'tests: [{ name: a, step: { step_type: step.exec }, expect: { violated: [Q] } }]',
      id: 'unknown-policy',
      column: 73,
    },
    { text: 'test: []', id: 'unknown-key', column: 1 },
    { text: 'tests: [{ name: a, expect: { action: block } }]', id: 'wrong-test', column: 9 },
    { text: 'tests: [', id: 'yaml-bracket', column: 8 },
  ])('are rejected with line and column: $text', ({ text, id, column }) => {
    const { value, errors } = parseTestFile(text, 'a.test.yaml', ['P'])
    expect(value).toBeNull()
    expect(errors).toContainEqual(expect.objectContaining({ id, line: 1, column, file: 'a.test.yaml' }))
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
    expect(errors).toEqual([expect.objectContaining({ id: 'over-limit', line: 4, column: 3, path: 'policies' })])
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

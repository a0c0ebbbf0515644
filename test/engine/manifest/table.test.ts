// The tables of a manifest: what they say in words, and that no text of an author is anything but text.
import { readFileSync } from 'node:fs'
import { parseManifest, runTests } from '@svc/engine'
import { type ManifestTable, manifestTable, tableMarkdown, validateText } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

interface Case {
  readonly name: string
  readonly policy: object
  readonly expect: object
}

const cases = parse(readFileSync(new URL('../../cases/manifests/table.yaml', import.meta.url), 'utf8')) as Case[]
const basis = {
  name: 'P',
  rule_type: 'field_not_empty',
  params: { field: 'input.amount', target_step_names: ['refund'] },
  scope: 'step_execution',
  severity: 'low',
}

function tableOf(policy: object, rest: object = {}): ManifestTable {
  const text = JSON.stringify({ name: 'M', version: '1', policies: [{ ...basis, ...policy }], ...rest })
  const { value, errors } = parseManifest(text, 'm.yaml')
  expect(errors).toEqual([])
  if (value === null) throw new Error('no manifest')
  return manifestTable(value, runTests(value))
}

describe('the table of a policy', () => {
  it.each(cases)('says: $name', ({ policy, expect: expected }) => {
    expect(tableOf(policy).policies[0]).toMatchObject(expected)
  })

  it('names the tests that violate and pass it, and the controls', () => {
    const step = { step_type: 'step.resource', verb: 'POST', step_name: 'refund' }
    const tests = [
      { name: 'without', step, expect: { violated: ['P'] } },
      { name: 'with', step: { ...step, input: { amount: 1 } }, expect: { violated: [] } },
      { name: 'another step', step: { step_type: 'step.model' }, expect: { violated: [] } },
    ]
    const table = tableOf({ controls: ['B', 'A'] }, { tests })
    expect(table.policies[0]?.tests).toEqual({ violated: ['without'], passed: ['with'] })
    expect(table.controls).toEqual([
      { control: 'A', policies: ['P'] },
      { control: 'B', policies: ['P'] },
    ])
  })

  it('shows the conditions of a compound rule down to a depth that can be read', () => {
    const nested = (depth: number): object =>
      depth === 0
        ? { rule_type: 'current_is', params: { step_type: 'step.exec' } }
        : { rule_type: 'not', params: { condition: nested(depth - 1) } }
    const { rule } = tableOf(nested(500)).policies[0] ?? { rule: [] }
    expect(rule.map(({ depth }) => depth)).toEqual([...Array(13).keys()])
    const { rule: shallow } = tableOf(nested(2)).policies[0] ?? { rule: [] }
    expect(shallow.map((one) => `${one.depth} ${one.rule_type}`)).toEqual(['0 not', '1 not', '2 current_is'])
  })
})

describe('the Markdown of a table', () => {
  it('shows hostile text as text', () => {
    const hostile = '<img src=x> | [a](http://b) `c` @team\n# d ``e` **f**'
    const policy = {
      name: hostile,
      description: hostile,
      controls: [hostile],
      params: { field: hostile, target_step_names: [hostile] },
    }
    const waiver = { policy: hostile, agent_key: hostile, reason: hostile, approved_by: hostile, expires: '2030-01-31' }
    const text = tableMarkdown(tableOf(policy, { description: hostile, waivers: [waiver] }), 'a`|b.yaml')
    const outsideCode = text.replaceAll(/(?<![\\`])(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '')
    expect(outsideCode).not.toMatch(/(?<!\\)<(?!\/?code>)|(?<!\\)\*\*f|(?<!\\)@|^# d|(?<!\\)\[/m)
    const tables = text.split('\n').filter((line) => line.startsWith('| '))
    const columns = tables.map((line) => line.split(/(?<!\\)\|/).length - 2)
    expect(new Set(columns)).toEqual(new Set([6, 5, 2]))
  })

  it('keeps a value with backticks as one code, and codes beside each other apart', () => {
    const text = tableMarkdown(
      tableOf({
        rule_type: 'field_in_list',
        params: { field: 'a`b', values: ['`<img>`'], target_step_names: ['x`\uE000``<b>'] },
      }),
      'm.yaml',
    )
    expect(text).toContain(': ``a`b``')
    expect(text).toContain(': `` `<img>` ``')
    expect(text.replaceAll(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '')).not.toMatch(/(?<!\\)<(b|img)/)
  })

  it('is the same on every day', () => {
    const waiver = { policy: 'P', agent_key: 'a', reason: 'b', approved_by: 'c', expires: '2020-01-31' }
    expect(tableMarkdown(tableOf({}, { waivers: [waiver] }), 'm.yaml')).toContain('| P | a | 2020-01-31 | c | b |')
  })

  it('describes every rule of the baseline', () => {
    const text = readFileSync(new URL('../../../library/security/agentic-baseline.yaml', import.meta.url), 'utf8')
    const { manifests } = validateText(text, 'baseline.yaml', { tests: 'if-present', now: 0 })
    const [manifest] = manifests
    if (manifest?.value == null) throw new Error('no baseline')
    const page = tableMarkdown(manifestTable(manifest.value, manifest.tests), 'baseline.yaml')
    for (const { name } of manifest.value.policies) expect(page).toContain(`### ${name}\n`)
    expect(page).not.toMatch(/undefined|\[object|null`? steps/)
  })
})

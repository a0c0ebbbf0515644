// Findings as workflow commands and SARIF: hostile texts show as themselves, and nothing more.
import { readFileSync } from 'node:fs'
import {
  annotationsOf,
  type Finding,
  findingAt,
  findingKinds,
  logLine,
  onOneLine,
  sarifOf,
  validateText,
  workflowCommands,
} from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { sarifProblems } from '../../support/engine/sarif.js'

const names = parse(readFileSync(new URL('../../cases/hostile-names.yaml', import.meta.url), 'utf8')) as string[]
const place = { file: 'a.yaml', line: 1, column: 1, path: '' }

describe('workflow commands', () => {
  it.each(names)('of a finding about %j are one command', (name) => {
    const finding = { ...findingAt('test-failed', name, place), file: name }
    const [line = '', ...others] = workflowCommands(annotationsOf([finding]), 'see the summary')
    expect(others).toEqual([])
    expect(line).not.toMatch(/[\n\r]/)
    const [, properties = '', data = ''] = /^::error ((?:(?!::).)*)::(.*)$/.exec(line) ?? []
    const values = properties.split(',').map((property) => property.split('=')[0])
    expect(values).toEqual(['file', 'line', 'col', 'title'])
    const read = (text: string) => text.replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%25', '%')
    expect(read(data)).toBe(onOneLine(name))
    expect(read(/file=([^,]*)/.exec(properties)?.[1] ?? '')).toBe(onOneLine(name))
  })

  it.each(names)('are not read from %j in a line of the log', (name) => {
    expect(logLine(name)).not.toMatch(/^\s*::|##\[|[\n\r]/)
  })

  it('come sorted, errors first, at most nine of each kind with the number of the others', () => {
    const at = (id: 'test-failed' | 'expired-waiver', line: number) => findingAt(id, `${line}`, { ...place, line })
    const lines = Array.from({ length: 12 }, (_, index) => index + 1)
    const findings = [...lines.map((line) => at('expired-waiver', line)), at('test-failed', 2), at('test-failed', 1)]
    const head = (line: string) => line.replace(/^::(\w+)(?:.*line=(\d+))?.*$/, '$1 $2')
    const made = workflowCommands(annotationsOf(findings.toReversed()), 'see the job summary')
    expect(made.map(head)).toEqual([
      'error 1',
      'error 2',
      ...lines.slice(0, 9).map((line) => `warning ${line}`),
      'warning ',
    ])
    expect(made.at(-1)).toBe('::warning::3 more: see the job summary')
  })
})

describe('SARIF', () => {
  const broken = 'name: a\nversion: "1"\npolicies:\n  - name: P\n    rule_type: nope\n    scope: x\n    severity: low\n'
  const findingsIn = (text: string) => validateText(text, 'a.yaml', { tests: 'off', now: 0 }).findings
  const printsOf = (findings: readonly Finding[]) =>
    sarifOf(findings, '1.2.3').runs[0]?.results.map(({ partialFingerprints }) => partialFingerprints['svcFinding/v1'])

  it('describes every kind of finding as a rule', () => {
    const rules = sarifOf([], '1.2.3').runs[0]?.tool.driver.rules ?? []
    expect(rules.map(({ id }) => id)).toEqual(findingKinds.map(({ id }) => id))
  })

  it.runIf(sarifProblems !== null)('fits the schema of the standard, for every name', () => {
    const findings = names.map((name) => ({ ...findingAt('test-failed', name, place), file: `${name}.yaml` }))
    expect(sarifProblems?.(sarifOf(findings, '1.2.3'))).toEqual([])
  })

  it('has fingerprints that survive lines and policies before a finding, and differ between findings', () => {
    const prints = printsOf(findingsIn(broken))
    expect(new Set(prints).size).toBe(prints?.length)
    expect(prints?.length).toBeGreaterThan(0)
    expect(printsOf(findingsIn(`# a comment\n\n${broken}`))).toEqual(prints)
    const valid =
      '  - name: Q\n    rule_type: field_not_empty\n    params: { field: step_name }\n    scope: step_execution\n    severity: low\n'
    expect(printsOf(findingsIn(broken.replace('policies:\n', `policies:\n${valid}`)))).toEqual(prints)
    const tab = 'name: A\npolicies:\n\t- name: P\n'
    expect(printsOf(findingsIn(`# a comment\n${tab}`))).toEqual(printsOf(findingsIn(tab)))
  })

  it('numbers equal findings', () => {
    const finding = findingAt('test-failed', 'a', place)
    expect(new Set(printsOf([finding, { ...finding, line: 9 }])).size).toBe(2)
  })

  it.each([
    ['policies/a b.yaml', 'policies/a%20b.yaml'],
    ['./a.yaml', 'a.yaml'],
    ['a\\b.yaml', 'a/b.yaml'],
    ['/srv/a.yaml', 'file:///srv/a.yaml'],
    ['C:\\a.yaml', 'file:///C:/a.yaml'],
  ])('writes the path %s as %s', (file, uri) => {
    const { results = [] } = sarifOf([{ ...findingAt('test-failed', 'a', place), file }], '1').runs[0] ?? {}
    expect(results[0]?.locations[0]?.physicalLocation.artifactLocation.uri).toBe(uri)
  })
})

// `svc check`: what it prints, and its exit codes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'

let folder = ''
const at = (name: string) => join(folder, name)

const manifest = (policies: string) => `name: Transfers\nversion: "1.0.0"\npolicies:\n${policies}`
const limit = (name: string, bounds: string) => `  - name: ${name}
    rule_type: field_in_range
    params: { field: input.amount, ${bounds}, target_step_names: [transfer] }
    scope: step_execution
    severity: critical
`

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-check-'))
  writeFileSync(at('small.yaml'), manifest(limit('Transfers are small', 'max: 100')))
  writeFileSync(at('large.yaml'), manifest(limit('Transfers are worth the fee', 'min: 500')))
  writeFileSync(at('broken.yaml'), manifest(limit('Transfers are small', 'max: many')))
  writeFileSync(at('hostile.yaml'), manifest(limit('"\\e[2J\\u202Ename"', 'min: 5') + limit('"\\e[2Jname"', 'max: 1')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('svc check', () => {
  it('says what it checked when it finds nothing', async () => {
    const { code, stdout } = await runSvc(['check', at('small.yaml'), at('large.yaml'), '--strict'])
    expect([code, stdout]).toEqual([0, 'no findings: 2 policies checked, a path found to 4 of 4 targeted actions\n'])
  })

  it('finds contradictions across files with --together, and fails with --strict only', async () => {
    const args = ['check', at('small.yaml'), at('large.yaml'), '--together']
    const { code, stdout } = await runSvc(args)
    expect(code).toBe(0)
    expect(stdout).toContain(`${at('large.yaml')}:4:5: warning: Transfers are worth the fee [contradiction]\n`)
    expect(stdout).toContain(`\`Transfers are small\` (${at('small.yaml')}:4)`)
    expect((await runSvc([...args, '--strict'])).code).toBe(1)
  })

  it('prints a shortest path to each action with --paths', async () => {
    const { stdout } = await runSvc(['check', at('small.yaml'), '--paths'])
    expect(stdout).toMatch(
      /to a step that is named `transfer`\n {4}1\. task\.start .*\n {4}2\. step\.resource POST transfer/,
    )
  })

  it('prints JSON', async () => {
    const { stdout } = await runSvc(['check', at('small.yaml'), '--json'])
    const { checked } = JSON.parse(stdout)
    expect(checked).toMatchObject([{ files: [at('small.yaml')], findings: [], policies: 1 }])
  })

  it('fails on an invalid manifest, and on a path that is not there', async () => {
    const broken = await runSvc(['check', at('broken.yaml')])
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('broken.yaml:6:')])
    expect((await runSvc(['check', at('none.yaml')])).code).toBe(2)
    expect((await runSvc(['check'])).code).toBe(2)
  })

  it('prints names without control characters', async () => {
    const { code, stdout, stderr } = await runSvc(['check', at('hostile.yaml')])
    expect([code, stderr]).toEqual([1, expect.stringContaining('U+001B')])
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u)
  })
})

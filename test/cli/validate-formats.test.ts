// `svc validate` in the formats of GitHub and of code scanning.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { sarifProblems } from '../support/engine/sarif.js'

const path = join(mkdtempSync(join(tmpdir(), 'svc-formats-')), 'a,b.yaml')
const policy = (index: number) =>
  `  - name: "P${index}\\n::error::%0A"\n    rule_type: field_not_empty\n    params: { field: verb }\n    scope: step_execution\n    severity: "x\\n::error::%0A"\n`
const indexes = Array.from({ length: 11 }, (_, index) => index)
writeFileSync(path, `name: a\nversion: "1"\npolicies:\n${indexes.map(policy).join('')}`)

describe('svc validate', () => {
  it('prints workflow commands with --format github, nine of a kind', async () => {
    const { code, stdout } = await runSvc(['validate', path, '--format', 'github'])
    const lines = stdout.trimEnd().split('\n')
    const place = `file=${path.replace(',', '%2C')},line=8,col=15,title=A value is not accepted (wrong-value)`
    expect(code).toBe(1)
    expect(lines).toHaveLength(10)
    expect(lines[0]).toBe(
      `::error ${place}::\`policies[0].severity\` must be one of low, medium, high, critical, found \`x\\n::error::%250A\``,
    )
    expect(lines[9]).toBe('::error::2 more: the format text lists all')
  })

  it.runIf(sarifProblems !== null)('prints SARIF with --format sarif', async () => {
    const { code, stdout } = await runSvc(['validate', path, '--format', 'sarif'])
    const log = JSON.parse(stdout)
    expect(code).toBe(1)
    expect(sarifProblems?.(log)).toEqual([])
    expect(log.runs[0].results).toHaveLength(11)
  })

  it('prints nothing as workflow commands for a valid manifest', async () => {
    const valid = path.replace('a,b', 'valid')
    writeFileSync(valid, `name: a\nversion: "1"\npolicies:\n${policy(1).replace(/severity: .*/, 'severity: low')}`)
    expect(await runSvc(['validate', valid, '--format', 'github'])).toMatchObject({ code: 0, stdout: '' })
  })
})

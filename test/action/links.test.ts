// Links of a pull request: what they lead to is neither read nor written.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newWorkspace, runAction, temporary } from '../support/git/action.js'

const valid =
  'name: A\nversion: "1"\npolicies:\n  - { name: P, rule_type: field_not_empty, params: { field: input.a }, scope: step_execution, severity: low }\n'

describe('a link in the workspace', () => {
  it('to a manifest is an error, because the base has only the link', () => {
    const workspace = newWorkspace({ 'policies/a.yaml': valid, 'shared/b.txt': valid })
    symlinkSync('../shared/b.txt', join(workspace.folder, 'policies/b.yaml'))
    const { code, commands } = runAction(workspace, { paths: 'policies' })
    expect(code).toBe(1)
    expect(commands.join('\n')).toContain('policies/b.yaml')
    expect(commands.join('\n')).toContain('reached through a link')
  })

  it('to a device or out of the workspace ends, and shows nothing of it', () => {
    const outside = temporary()
    mkdirSync(join(outside, 'secret'))
    writeFileSync(join(outside, 'secret/c.yaml'), valid.replace('name: A', 'token: hunter2'))
    const workspace = newWorkspace({ 'policies/a.yaml': valid })
    symlinkSync('/dev/zero', join(workspace.folder, 'policies/z.yaml'))
    symlinkSync(join(outside, 'secret'), join(workspace.folder, 'policies/x'))
    const { code, summary, log } = runAction(workspace, { paths: 'policies' })
    expect(code).toBe(1)
    expect(`${summary}${log}`).toContain('policies/z.yaml')
    expect(`${summary}${log}`).not.toContain('token')
  })

  it('does not redirect a report', () => {
    const outside = temporary()
    writeFileSync(join(outside, 'victim'), 'untouched')
    const workspace = newWorkspace({ 'a.yaml': valid })
    symlinkSync(join(outside, 'victim'), join(workspace.folder, 'r.sarif'))
    symlinkSync('.git', join(workspace.folder, 'out'))
    for (const input of [{ 'sarif-file': 'r.sarif' }, { 'json-file': 'out/config' }])
      expect(runAction(workspace, input).code).toBe(2)
    expect(readFileSync(join(outside, 'victim'), 'utf8')).toBe('untouched')
  })
})

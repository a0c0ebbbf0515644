// `svc docs`: tables of manifests as files that stay current.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/engine/serve.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-docs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const manifest = (name: string, max = 5) =>
  `name: ${name}\nversion: "1"\npolicies:\n  - name: P\n    rule_type: execution_max_steps\n    params: { step_type: step.model, max_steps: ${max} }\n    scope: step_execution\n    severity: low\n`

function policies(name: string): string {
  const path = join(folder, name)
  mkdirSync(join(path, 'team'), { recursive: true })
  writeFileSync(join(path, 'a.yaml'), manifest('A'))
  writeFileSync(join(path, 'team/b.yaml'), manifest('B'))
  return path
}

describe('svc docs', () => {
  it('prints the tables of all manifests', async () => {
    const { code, out, err } = await runSvc(['docs', policies('printed')])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(
      /^# A\n\nVersion 1, `a\.yaml`, 1 policy, 0 tests\.\n[\s\S]*\n# B\n\nVersion 1, `team\/b\.yaml`,/,
    )
  })

  it('prints JSON', async () => {
    const { code, out } = await runSvc(['docs', policies('json'), '--json'])
    const { manifests } = JSON.parse(out) as { manifests: { file: string; name: string; policies: object[] }[] }
    expect([code, manifests.map(({ file, name }) => [file, name])]).toEqual([
      0,
      [
        ['a.yaml', 'A'],
        ['team/b.yaml', 'B'],
      ],
    ])
  })

  it('writes a file for each manifest, and reports those that are not current, missing or left over', async () => {
    const path = policies('folder')
    const out = join(folder, 'pages')
    expect(await runSvc(['docs', path, '--out', out])).toMatchObject({ code: 0, out: '2 files written\n' })
    expect(await runSvc(['docs', path, '--out', out, '--check'])).toMatchObject({ code: 0, out: '2 files current\n' })
    writeFileSync(join(path, 'a.yaml'), manifest('A', 6))
    writeFileSync(join(path, 'c.yaml'), manifest('C'))
    rmSync(join(path, 'team/b.yaml'))
    const { code, err } = await runSvc(['docs', path, '--out', out, '--check'])
    expect([code, err.split('\n').slice(0, 3)]).toEqual([
      1,
      [
        `svc docs: \`${out}/a.md\` is not current`,
        `svc docs: \`${out}/c.md\` does not exist`,
        `svc docs: \`${out}/team/b.md\` is of no manifest: remove it`,
      ],
    ])
    expect(existsSync(join(out, 'c.md'))).toBe(false)
  })

  it('writes one file, and never replaces a file of another author', async () => {
    const path = policies('file')
    const out = join(folder, 'all.md')
    expect((await runSvc(['docs', path, '--out', out])).code).toBe(0)
    expect((await runSvc(['docs', path, '--out', out])).code).toBe(0)
    expect(readFileSync(out, 'utf8')).toMatch(/^<!-- Written by `svc docs`[\s\S]*# A\n[\s\S]*# B\n/)
    writeFileSync(out, 'mine')
    const { code, err } = await runSvc(['docs', path, '--out', out])
    expect([code, readFileSync(out, 'utf8')]).toEqual([1, 'mine'])
    expect(err).toBe(`svc docs: \`${out}\` was not written by this command: remove it, or name another file\n`)
  })

  it('writes nothing about a manifest with errors', async () => {
    const path = policies('errors')
    writeFileSync(join(path, 'a.yaml'), manifest('A').replace('low', 'lwo'))
    const { code, out, err } = await runSvc(['docs', path])
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('`policies[0].severity` must be one of')
    expect(err).toContain('svc docs: nothing was written: correct the errors first\n')
  })

  it('needs --out for --check', async () => {
    expect((await runSvc(['docs', folder, '--check'])).code).toBe(2)
  })
})

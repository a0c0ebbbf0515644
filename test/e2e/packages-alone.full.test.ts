// Packages that are installed alone have only their own dependencies, and work.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-alone-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (program: string, args: readonly string[], cwd: string) =>
  execFileSync(program, args, { encoding: 'utf8', cwd, stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** The external dependencies of these packages, direct and transitive; those in the folder of another one come with it. */
function needed(names: readonly string[]): string[] {
  const seen = new Set<string>()
  const pending = [...names]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const path = join(root, 'node_modules', name)
    pending.push(...dependenciesOf(path).filter((own) => !existsSync(join(path, 'node_modules', own))))
  }
  return [...seen]
}

function dependenciesOf(path: string): string[] {
  const text = readFileSync(join(path, 'package.json'), 'utf8')
  return Object.keys((JSON.parse(text) as { dependencies?: Record<string, string> }).dependencies ?? {})
}

/** Installs the packed package with its dependencies into an empty folder; returns the names of all installed packages. */
function installed(name: string) {
  const home = join(folder, name)
  const all = new Set<string>()
  const others = new Set<string>()
  const install = (own: string) => {
    if (all.has(own)) return
    all.add(own)
    const packed = run(
      'npm',
      ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, join(root, own)],
      root,
    )
    const target = join(home, 'node_modules/@svc', own)
    mkdirSync(target, { recursive: true })
    run('tar', ['-xzf', join(folder, packed.split('\n').at(-1) ?? ''), '-C', target, '--strip-components=1'], folder)
    for (const dependency of dependenciesOf(target)) {
      if (dependency.startsWith('@svc/')) install(dependency.slice(5))
      else others.add(dependency)
    }
  }
  install(name)
  const needs = needed([...others]).sort()
  for (const other of needs)
    cpSync(join(root, 'node_modules', other), join(home, 'node_modules', other), { recursive: true })
  writeFileSync(join(home, 'package.json'), '{"type":"module"}')
  return { home, own: [...all].sort(), others: needs }
}

describe('a package that is installed alone', () => {
  it('is proof, which depends on the schemas only, and verifies', () => {
    const { home, own, others } = installed('proof')
    expect([own, others]).toEqual([['proof', 'schemas'], []])
    const program = `const { canonical, emptyTree } = await import('@svc/proof'); console.log(canonical({ b: 1, a: typeof emptyTree }))`
    expect(run(process.execPath, ['--input-type=module', '-e', program], home)).toContain('"b":1}')
    expect(run(process.execPath, ['node_modules/@svc/proof/svc-verify.mjs', '--help'], home)).toContain('--trust')
  })

  it('is engine, which depends on three own packages and at most eight others, and evaluates', () => {
    const { home, own, others } = installed('engine')
    expect(own).toEqual(['engine', 'library', 'proof', 'schemas'])
    for (const direct of ['ajv', 're2js', 'yaml']) expect(others).toContain(direct)
    expect(others.length).toBeLessThanOrEqual(8)
    expect(sizeOf(join(home, 'node_modules'))).toBeLessThanOrEqual(6 * 2 ** 20)
    const program = `const { parseManifest, rules } = await import('@svc/engine')
      const policy = { name: 'P', rule_type: 'not', params: {}, scope: 'step_execution', severity: 'low' }
      const { errors } = parseManifest(JSON.stringify({ name: 'A', version: '1', policies: [policy] }), 'a.yaml')
      console.log(rules.length > 20, errors[0].path)`
    expect(run(process.execPath, ['--input-type=module', '-e', program], home)).toBe('true policies.0.params.condition')
  })

  it('is report, which needs no platform, and reads a bundle', () => {
    const { home, own, others } = installed('report')
    expect(own).toEqual(['engine', 'library', 'proof', 'report', 'schemas'])
    for (const server of ['express', 'knex', 'pg', 'pino']) expect(others).not.toContain(server)
    const program = `const { reportIdOf } = await import('@svc/report')
      const { makeBundledReport } = await import('@svc/report/bundle')
      const policy = { logs: [], past: [], witnesses: [], quorum: null }
      const code = await makeBundledReport('none.zip', policy, null).catch(({ code }) => code)
      console.log(reportIdOf('org_1', { period: {} }).slice(0, 4), code)`
    expect(run(process.execPath, ['--input-type=module', '-e', program], home)).toBe('rep_ not_a_bundle')
  })

  it('is cli, which provides the command', () => {
    const { home, others } = installed('cli')
    for (const heavy of ['express', 'knex', 'pg', 'pino', 'helmet']) expect(others).not.toContain(heavy)
    expect(run(process.execPath, ['node_modules/@svc/cli/bin/svc.js', 'rules', '--name', 'not'], home)).toContain(
      'not  (flow;',
    )
  })
})

/** Bytes of all files in a folder. */
function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(folder, name)))
  return files.filter((file) => file.isFile()).reduce((sum, { size }) => sum + size, 0)
}

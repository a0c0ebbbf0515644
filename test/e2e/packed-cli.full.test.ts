// The packed command in an empty folder: installed by npm from files alone, it works without any network.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-packed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Addresses at which nothing listens: whatever asks the network fails. */
const nowhere = 'http://127.0.0.1:9'
const offline = {
  PATH: process.env.PATH ?? '',
  HOME: folder,
  npm_config_cache: join(folder, 'cache'),
  npm_config_registry: nowhere,
  http_proxy: nowhere,
  https_proxy: nowhere,
}

const dependenciesOf = (path: string) => {
  const text = readFileSync(join(path, 'package.json'), 'utf8')
  return Object.keys((JSON.parse(text) as { dependencies?: Record<string, string> }).dependencies ?? {})
}

/** The folders of a package and of all that it depends on. */
function foldersOf(name: string): string[] {
  const found = new Set<string>()
  const pending = [name]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const path = next.startsWith('@svc/') ? join(root, next.slice(5)) : join(root, 'node_modules', next)
    if (found.has(path)) continue
    found.add(path)
    pending.push(...dependenciesOf(path))
  }
  return [...found]
}

describe('the packed command', () => {
  const home = join(folder, 'home')
  const svc = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('npx', ['--no-install', 'svc', ...args], {
      cwd: home,
      env: offline,
      encoding: 'utf8',
    })
    return { status, stdout, errors: stderr.replaceAll(/^npm (warn|notice).*\n/gm, '') }
  }

  beforeAll(() => {
    const packs = join(folder, 'packs')
    mkdirSync(packs)
    mkdirSync(home)
    const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, env: offline, stdio: 'ignore' })
    npm(folder, 'pack', '--ignore-scripts', '--pack-destination', packs, ...foldersOf('@svc/cli'))
    writeFileSync(join(home, 'package.json'), '{"private":true}')
    const files = readdirSync(packs).map((name) => join(packs, name))
    npm(home, 'install', '--offline', '--no-audit', '--ignore-scripts', ...files)
  })

  it('brings no code of the platform', () => {
    const { packages } = JSON.parse(readFileSync(join(home, 'package-lock.json'), 'utf8')) as { packages: object }
    const names = Object.keys(packages).map((path) => path.replace('node_modules/', ''))
    expect(names.filter((name) => name !== '').sort()).toEqual([
      '@svc/adapters',
      '@svc/cli',
      '@svc/engine',
      '@svc/library',
      '@svc/proof',
      '@svc/schemas',
      'ajv',
      'ansi-regex',
      'cli-progress',
      'commander',
      'emoji-regex',
      'fast-deep-equal',
      'fast-uri',
      'is-fullwidth-code-point',
      'json-schema-traverse',
      're2js',
      'require-from-string',
      'string-width',
      'strip-ansi',
      'yaml',
    ])
  })

  it('writes a manifest repository, validates it and runs its tests', () => {
    const init = svc('init', 'demo')
    expect([init.status, init.errors]).toEqual([0, ''])
    expect(init.stdout).toContain(
      '\nNext:\n  npx --no-install svc validate demo/policies --strict\n  npx --no-install svc test demo/policies --coverage\n',
    )
    expect(svc('validate', 'demo', '--strict')).toEqual({
      status: 0,
      stdout: '1 manifest, 5 valid policies: 0 errors, 0 warnings (1 other YAML file without policies)\n',
      errors: '',
    })
    const test = svc('test', 'demo', '--coverage')
    expect([test.status, test.errors]).toEqual([0, ''])
    expect(test.stdout).toContain('coverage of demo/policies/refunds.yaml: 100 % (10 of 10')
    expect(test.stdout).toMatch(/\n1 manifest, 8 tests: 8 passed, 0 failed\n$/)
  })

  it('passes the commands of the workflow that it writes', () => {
    const workflow = readFileSync(join(home, 'demo/.github/workflows/policies.yml'), 'utf8')
    const commands = [...workflow.matchAll(/- run: (npx .*)/g)].map(([, command = '']) => command)
    expect(commands).toHaveLength(3)
    for (const command of commands)
      execFileSync('sh', ['-c', command], { cwd: join(home, 'demo'), env: offline, stdio: 'ignore' })
  })

  it('names the package that makes reports, which it does without', () => {
    const { status, errors } = svc('report', '--bundle', 'report.zip', '--trust', 'trust.policy')
    expect([status, errors]).toEqual([
      1,
      'svc: the package `@svc/report`, which makes reports, is not installed: install it next to `@svc/cli`\n',
    ])
  })

  it('explains the rules and writes tables', () => {
    expect(svc('docs', 'demo', '--out', 'demo/docs')).toEqual({ status: 0, stdout: '1 file written\n', errors: '' })
    expect(svc('rules', '--name', 'field_in_range').stdout).toContain('field_in_range')
  })
})

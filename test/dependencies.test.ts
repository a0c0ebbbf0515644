// What an installation brings along: nothing that runs by itself and reports elsewhere.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { resolved?: string; link?: boolean; hasInstallScript?: boolean; dev?: boolean }>
}

describe('the lock file', () => {
  it('has an empty package in the place of the one that reports installations', () => {
    expect(lock.packages['node_modules/@scarf/scarf']).toEqual({ resolved: 'scripts/empty-package', link: true })
    expect(readdirSync(join(root, 'scripts/empty-package'))).toEqual(['package.json'])
  })

  it('has no package with an install script that an operator needs', () => {
    const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)
    expect(scripted.map(([name]) => name)).toEqual([])
  })
})

describe('an installation without a compiler and without a build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-unbuilt-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'scripts'))
  for (const name of ['package.json', 'scripts/build.js', 'scripts/start.js'])
    cpSync(join(root, name), join(folder, name))
  const run = (script: string, npm_lifecycle_event: string) => {
    const env = { PATH: process.env.PATH ?? '', npm_lifecycle_event }
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, script)], { env, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  const stderr =
    'svc: nothing is built, and this installation has no compiler: run `npm ci`, which builds, then `npm prune --omit=dev`\n'

  it('says what to run when npm has installed it', () => {
    expect(run('scripts/build.js', 'prepare')).toEqual({ status: 0, stdout: '', stderr })
  })

  it('says so instead of a start, and ends with 1', () => {
    expect(run('scripts/start.js', 'start')).toEqual({ status: 1, stdout: '', stderr })
  })
})

// The engine as it is published, in a folder of its own: nothing of the platform comes with it.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-engine-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the engine alone', () => {
  it('installs and works without the platform', () => {
    const pack = (name: string) => {
      const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, join(root, name)]
      return join(
        folder,
        execFileSync('npm', args, { encoding: 'utf8', cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
          .trim()
          .split('\n')
          .at(-1) ?? '',
      )
    }
    const packages = ['schemas', 'library', 'engine'].map(pack)
    const home = join(folder, 'agent')
    execFileSync('mkdir', ['-p', join(home, 'node_modules/@svc')])
    for (const [index, name] of ['schemas', 'library', 'engine'].entries()) {
      const target = join(home, 'node_modules/@svc', name)
      execFileSync('mkdir', ['-p', target])
      execFileSync('tar', ['-xzf', packages[index] ?? '', '-C', target, '--strip-components=1'])
    }
    const wanted = JSON.parse(readFileSync(join(root, 'engine/package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const allowed = new Set(closure(Object.keys(wanted.dependencies).filter((name) => !name.startsWith('@svc/'))))
    for (const name of allowed) {
      const target = join(home, 'node_modules', name)
      execFileSync('mkdir', ['-p', join(target, '..')])
      execFileSync('cp', ['-r', join(root, 'node_modules', name), target])
    }
    for (const heavy of ['express', 'knex', 'pg', 'pino', 'helmet']) expect(allowed).not.toContain(heavy)
    writeFileSync(join(home, 'package.json'), '{"type":"module"}')
    const printed = execFileSync(
      process.execPath,
      [join(home, 'node_modules/@svc/engine/bin/svc.js'), 'rules', '--name', 'not'],
      { encoding: 'utf8', cwd: home },
    )
    expect(printed).toContain('not  (flow;')
  })
})

/** The packages that these need to run, and all that those need. */
function closure(names: readonly string[]): string[] {
  const seen = new Set<string>()
  const pending = [...names]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'),
    ) as { dependencies?: Record<string, string> }
    pending.push(...Object.keys(dependencies))
  }
  return [...seen]
}

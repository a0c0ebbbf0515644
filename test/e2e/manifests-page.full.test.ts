// The commands of docs/manifests-in-git.md run as printed, in order, on a platform of their own, whose numbers the page shows.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bareRepository } from '../support/git/git-host.js'
import { refunds } from '../support/git/manifests-in-git.js'
import { logIn, signIn } from '../support/people/local-login.js'
import { blocksOf, makeClone, matches, openTerminal, type Terminal } from '../support/people/page.js'
import { freePort } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'

const page = 'docs/manifests-in-git.md'
const has = (...names: readonly string[]) => names.every((name) => spawnSync(name, ['--version']).status === 0)

describe.skipIf(!has('bash', 'curl'))(page, () => {
  const clone = mkdtempSync(join(tmpdir(), 'svc-manifests-page-'))
  const roots = join(clone, 'svc-git')
  let ports: { engine: number; platform: number }
  let env: Record<string, string>
  let platform: PlatformProcess
  let terminal: Terminal

  beforeAll(async () => {
    ports = { engine: await freePort(), platform: await freePort() }
    const person = { NAME: 'Mia', EMAIL: 'mia@example.org' }
    const names = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
      Object.entries(person).map(([key, value]) => [`GIT_${role}_${key}`, value]),
    )
    const path = makeClone(clone)
    platform = await startProcess({
      SVC_DATA_DIR: join(clone, 'data'),
      SVC_PORT: String(ports.platform),
      SVC_GIT_FILE_ROOTS: roots,
    })
    env = {
      ...Object.fromEntries(names),
      PATH: path,
      SVC_CONFIG_DIR: join(clone, 'config'),
      SVC_API_URL: platform.url,
      SVC_API_KEY: platform.api_key,
    }
    terminal = openTerminal(clone, env)
  })
  afterAll(async () => {
    await terminal.close()
    await platform.terminate()
    rmSync(clone, { recursive: true, force: true })
  })

  /** The text with the ports of this test for the usual ones. */
  const here = (text: string) => text.replaceAll(':8765', `:${ports.engine}`).replaceAll(':8080', `:${ports.platform}`)
  const asPrinted = (text: string) => text.replaceAll(`:${ports.engine}`, ':8765')
  const perform = async (commands: string) => {
    if (commands.includes('npm start')) return platform.printed
    const [first = '', ...rest] = commands.split('\n')
    if (first === 'npx --no-install svc login')
      return (await logIn(platform, await signIn(platform), env)) + (await terminal.run(here(rest.join('\n'))))
    const server = commands.split('\n').find((line) => line.startsWith('npx --no-install svc serve'))
    if (server !== undefined) return terminal.serve(`${server} --port ${ports.engine}`)
    return terminal.run(here(commands))
  }

  it('works as printed', async () => {
    const blocks = blocksOf(page)
    expect(blocks.length).toBeGreaterThanOrEqual(8)
    for (const { commands, output } of blocks) {
      const printed = asPrinted(await perform(commands))
      if (output !== null && !matches(printed, output))
        expect.fail(`${page} shows for\n\n${commands}\n${output}\nand this was printed:\n\n${printed}`)
    }
  })

  it.skipIf(!has('python3'))('connects and assigns from Python', () => {
    bareRepository(join(roots, 'python.git')).commit({ 'refunds.yaml': refunds([{ name: 'one' }]) })
    const text = readFileSync(fileURLToPath(new URL(`../../${page}`, import.meta.url)), 'utf8')
    const [, program = ''] = /```python\n([\s\S]*?)```/.exec(text) ?? []
    const input = here(program).replace(/https:[^"]*\.git/, pathToFileURL(join(roots, 'python.git')).href)
    expect(execFileSync('python3', ['-'], { cwd: clone, input, encoding: 'utf8' })).toBe("3 synced ['one']\n")
  })
})

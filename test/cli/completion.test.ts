// `svc completion`: the scripts, run by a real shell where it is installed.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runSvc } from '../support/engine/serve.js'

interface Case {
  readonly line: readonly string[]
  readonly exactly?: readonly string[]
  readonly includes?: readonly string[]
}

const cases = parse(readFileSync(new URL('../cases/completion.yaml', import.meta.url), 'utf8')) as Case[]
const shells = ['bash', 'zsh', 'fish'] as const
const has = (shell: string) => spawnSync(shell, ['--version']).status === 0
const folder = mkdtempSync(join(tmpdir(), 'svc-completion-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const script = (shell: string) => join(folder, `.${shell}`)

beforeAll(async () => {
  for (const name of ['a file.yaml', 'a*.yaml', 'b.yaml']) writeFileSync(join(folder, name), '')
  for (const shell of shells) writeFileSync(script(shell), (await runSvc(['completion', shell])).out)
})

/** What bash would offer: the words are passed as they are after the shell has split the line. */
function offered(line: readonly string[]): string[] {
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`
  const args = ['--norc', '--noprofile', '-c', program, 'bash', script('bash'), ...line]
  return execFileSync('bash', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .split('\n')
    .filter((word) => word !== '')
}

describe.skipIf(!has('bash'))('completion in bash', () => {
  it.each(cases)('of $line', ({ line, exactly, includes }) => {
    const words = offered(line)
    if (exactly !== undefined) expect([...words].sort()).toEqual([...exactly].sort())
    for (const word of includes ?? []) expect(words).toContain(word)
  })

  it('offers every command of the help', async () => {
    const { out } = await runSvc(['--help'])
    const commands = [...out.matchAll(/^ {2}([a-z][a-z-]+)(?= )/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help')
    expect(offered(['svc', '']).sort()).toEqual(commands.sort())
  })
})

describe('the script', () => {
  it.each(shells)('says how to install it, in %s', (shell) => {
    expect(readFileSync(script(shell), 'utf8')).toMatch(
      new RegExp(`^(#compdef svc\\n)?# Completion of svc in ${shell}\\. To install it.*svc completion ${shell}`),
    )
  })

  it.each(shells)('has no syntax error, in %s', (shell) => {
    if (has(shell)) execFileSync(shell, ['-n', script(shell)])
  })

  it('is not printed for an unknown shell', async () => {
    const { code, err } = await runSvc(['completion', 'csh'])
    expect([code, err]).toEqual([2, expect.stringContaining('Allowed choices are bash, zsh, fish')])
  })
})

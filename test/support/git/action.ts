// The committed file of the GitHub Action in a separate process, as the runner of a workflow starts it.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../../../', import.meta.url))
export const guard = join(root, 'test/support/server/no-network.js')

export interface ActionFile {
  readonly inputs: Readonly<Record<string, { description: string; default: string }>>
  readonly outputs: Readonly<Record<string, { description: string }>>
  readonly runs: { readonly using: string; readonly main: string }
}

export const actionFile = parse(readFileSync(join(root, 'action/action.yml'), 'utf8')) as ActionFile

export interface Workspace {
  readonly folder: string
  readonly write: (files: Readonly<Record<string, string>>) => void
  readonly git: (...args: readonly string[]) => string
  /** Commits everything, and returns the commit. */
  readonly commit: () => string
}

/** A new folder with the files. */
export function newWorkspace(files: Readonly<Record<string, string>> = {}, folder = temporary()): Workspace {
  const write: Workspace['write'] = (some) => {
    for (const [path, text] of Object.entries(some)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  const config = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false']
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...config, ...args], { cwd: folder, encoding: 'utf8' })
  const commit = () => {
    if (!existsSync(join(folder, '.git'))) git('init', '-q', '-b', 'main')
    git('add', '-A')
    git('commit', '-q', '--allow-empty', '-m', 'a')
    return git('rev-parse', 'HEAD').trim()
  }
  write(files)
  return { folder, write, git, commit }
}

export function temporary(): string {
  return mkdtempSync(join(tmpdir(), 'svc-action-'))
}

export interface ActionResult {
  readonly code: number | null
  /** Lines that the runner reads as commands. */
  readonly commands: readonly string[]
  readonly log: readonly string[]
  readonly outputs: Readonly<Record<string, string>>
  readonly summary: string
  /** The first line says that the guard was loaded. */
  readonly network: readonly string[]
}

/** A copy without node_modules anywhere above it. */
const copy = temporary()
for (const name of ['action.yml', 'package.json', 'dist/index.js']) cpSync(join(root, 'action', name), join(copy, name))

/** Runs the action with the inputs; the others have the values of action.yml, as the runner sets them. */
export function runAction(
  { folder }: Pick<Workspace, 'folder'>,
  inputs: Readonly<Record<string, string>> = {},
  { event = {}, env = {} }: { event?: unknown; env?: Readonly<Record<string, string>> } = {},
): ActionResult {
  const place = temporary()
  const [output, summary, network, payload] = ['output', 'summary', 'network', 'event'].map((name) => join(place, name))
  for (const path of [output, summary, network]) writeFileSync(path as string, '')
  writeFileSync(payload as string, JSON.stringify(event))
  const all = Object.entries(actionFile.inputs).map(([name, { default: value }]) => [name, inputs[name] ?? value])
  const variables = all.map(([name = '', value]) => [`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`, value])
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', guard, actionFile.runs.main], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: {
      PATH: process.env.PATH,
      HOME: place,
      GITHUB_WORKSPACE: folder,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_EVENT_PATH: payload,
      SVC_TEST_NETWORK: network,
      ...Object.fromEntries(variables),
      ...env,
    },
  })
  if (stderr !== '') throw new Error(stderr)
  const lines = stdout.trimEnd().split(/\r\n|\n|\r/)
  const isCommand = (line: string) => line.trimStart().startsWith('::') || line.includes('##[')
  return {
    code: status,
    commands: lines.filter(isCommand),
    log: lines.filter((line) => !isCommand(line)),
    outputs: outputsIn(readFileSync(output as string, 'utf8')),
    summary: readFileSync(summary as string, 'utf8'),
    network: readFileSync(network as string, 'utf8')
      .trimEnd()
      .split('\n'),
  }
}

/** As the runner reads them: a line `name<<delimiter`, and the lines up to the delimiter. */
function outputsIn(text: string): Record<string, string> {
  const lines = text.split('\n')
  const found: Record<string, string> = {}
  for (let at = 0; at < lines.length - 1; ) {
    const [, name = '', delimiter] = /^([^=]*?)<<(.+)$/.exec(lines[at] ?? '') ?? []
    if (delimiter === undefined) throw new Error(`not an output: ${lines[at]}`)
    const end = lines.indexOf(delimiter, at + 1)
    found[name] = lines.slice(at + 1, end).join('\n')
    at = end + 1
  }
  return found
}

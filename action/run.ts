// One run of the action: inputs → files → validation, comparison, impact → report.
import { appendFile, lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { validateFiles } from '@svc/engine'
import {
  annotationsOf,
  byPlace,
  type InventoryAgent,
  logLine,
  neverApplied,
  quote,
  readInventory,
  type SourceFile,
  sarifOf,
  type Validation,
  workflowCommands,
} from '@svc/engine/parts'
import { components } from '@svc/schemas'
import { findBase, notCompared } from './change/base.js'
import { type Comparison, compare, filesOfBase } from './change/compare.js'
import { openRepository } from './change/git.js'
import { type Impact, impactOn, replayed, traceFilesOf } from './change/impact.js'
import { folderOf } from './files/patterns.js'
import { readWorkspace, withoutManifest } from './files/workspace.js'
import { type Environment, type Inputs, readInputs } from './inputs.js'
import { outputsOf, outputText } from './report/outputs.js'
import { type Report, reportJson, reportOf, sentenceOf } from './report/report.js'
import { summaryOf } from './report/summary.js'
import { UsageError } from './usage-error.js'

/** The outside of a run. The current folder is the workspace. */
export interface Outside {
  readonly env: Environment
  readonly workspace: string
  /** Prints a line. */
  readonly print: (line: string) => void
  /** Milliseconds since 1970. */
  readonly now: number
  readonly randomName: () => string
}

/** Returns the exit code: 0 ok, 1 findings. Rejects with UsageError. */
export async function run(outside: Outside): Promise<0 | 1> {
  const { env, workspace, now } = outside
  const inputs = readInputs(env, workspace)
  const agents = inputs.inventory === null ? [] : await agentsOf(inputs.inventory)
  const traces = await traceFilesOf(inputs.replay)
  const workspaceFiles = await readWorkspace(inputs.paths)
  const { files } = workspaceFiles
  const validation = validateFiles(files, { tests: inputs.tests, now })
  const { comparison, notes } = comparisonOf(inputs, env, validation, agents, now)
  const impact = await impactOf(traces, validation, files, comparison)
  const report = reportOf(
    {
      validation: {
        ...validation,
        findings: [
          ...withoutManifest(workspaceFiles, validation),
          // The findings above name the path.
          ...validation.findings.filter(({ id }) => id !== 'no-manifest'),
          ...(impact === null ? [] : neverApplied(impact.result)),
        ].sort(byPlace),
      },
      comparison,
      impact,
      lacks_base: comparison === null && notes.length > 0,
      notes: [...notes, ...(traces.length > 0 && impact === null ? [notReplayed] : [])],
    },
    inputs,
  )
  await publish(report, inputs, outside)
  return report.failed ? 1 : 0
}

const notReplayed = {
  severity: 'warning' as const,
  title: 'The traces were not replayed',
  message: 'a manifest has errors, and half of a manifest would give a wrong picture',
}

async function agentsOf(path: string): Promise<readonly InventoryAgent[]> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UsageError(`\`inventory\`: ${quote(path)} cannot be read: correct the path`)
  })
  const { agents, problem } = readInventory(text)
  if (problem === null) return agents
  throw new UsageError(`\`inventory\`: ${path}:${problem.line}:${problem.column}: ${problem.message}`)
}

function comparisonOf(
  inputs: Inputs,
  env: Environment,
  { manifests }: Validation,
  agents: readonly InventoryAgent[],
  now: number,
): { readonly comparison: Comparison | null; readonly notes: Report['notes'] } {
  const repository = inputs.base_ref === 'none' ? null : openRepository(inputs.paths.map(folderOf), env)
  const { base, note } = findBase(inputs, env, repository)
  if (base === null || repository === null) return { comparison: null, notes: note === null ? [] : [note] }
  const old = filesOfBase(base, inputs.paths, repository)
  if (old !== null) return { comparison: compare(base, old, manifests, agents, now), notes: [] }
  const reason = `the clone does not hold the files of ${quote(base.name)}: remove \`filter\` from the step that checks out`
  return { comparison: null, notes: [notCompared(reason)] }
}

async function impactOf(
  traces: readonly string[],
  { manifests }: Validation,
  files: readonly SourceFile[],
  comparison: Comparison | null,
): Promise<Impact | null> {
  if (traces.length === 0 || manifests.length === 0 || manifests.some(({ value }) => value === null)) return null
  const old = comparison === null || comparison.left_out.length > 0 ? null : comparison
  return impactOn(traces, replayed(manifests, files), old && replayed(old.old, old.old_files))
}

async function publish(report: Report, inputs: Inputs, { env, print, randomName }: Outside): Promise<void> {
  const { findings } = report.validation
  const { annotations, summary, sarif_file, json_file } = inputs
  for (const { severity, file, line, column, message, id } of findings)
    print(logLine(`${severity} ${file}:${line}:${column} ${message} [${id}]`))
  print(logLine(sentenceOf(report.totals)))
  const shown = [...report.notes, ...(annotations ? annotationsOf(findings) : [])]
  for (const command of workflowCommands(shown, 'see the job summary')) print(command)
  if (sarif_file !== null)
    await write('sarif-file', sarif_file, `${JSON.stringify(sarifOf(findings, version), null, 2)}\n`)
  if (json_file !== null) await write('json-file', json_file, reportJson(report))
  if (summary && env.GITHUB_STEP_SUMMARY) await appendFile(env.GITHUB_STEP_SUMMARY, summaryOf(report, addressOf(env)))
  if (env.GITHUB_OUTPUT) await appendFile(env.GITHUB_OUTPUT, outputText(outputsOf(report), randomName))
}

const version = components.find(({ name }) => name === 'engine')?.version ?? '0.0.0'

async function write(input: string, path: string, text: string): Promise<void> {
  await assertNoLink(input, path)
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new UsageError(`\`${input}\`: ${quote(path)} cannot be written (${code}): correct the path`)
  }
}

/** Rejects a path in the workspace that leads through a link: a pull request could redirect what is written. */
async function assertNoLink(input: string, path: string): Promise<void> {
  const root = await realpath('.')
  const target = resolve(root, path)
  if (!target.startsWith(`${root}${sep}`)) return
  let at = root
  for (const part of relative(root, target).split(sep)) {
    at = join(at, part)
    if ((await lstat(at).catch(() => null))?.isSymbolicLink() === true)
      throw new UsageError(`\`${input}\`: ${quote(path)} leads through a link: name a path without links`)
  }
}

/** The address of the files of the commit on the web. */
function addressOf({ GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_SHA }: Environment): string | null {
  const address = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/blob/${GITHUB_SHA}`
  return /^https?:\/\/[\w.:-]+\/[\w.-]+\/[\w.-]+\/blob\/[0-9a-f]{40,64}$/.test(address) ? address : null
}

// `npm run e2e:runs -- FILE`: imports recorded runs over HTTP into a platform on each database, verifies every task, and
// imports the file again, which must add nothing.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TaskList, Verification } from '@svc/schemas'
import { freePort, startPostgres } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'

interface Summary {
  readonly runs: number
  readonly steps: number
  readonly created: number
  readonly replayed: number
  readonly bad_lines: number
  readonly failures: readonly string[]
  readonly violations: Readonly<Record<string, number>>
  readonly would_block: Readonly<Record<string, number>>
  readonly would_ask: Readonly<Record<string, number>>
  readonly guessed_tools: readonly { readonly tool: string }[]
}

export interface Outcome {
  readonly first: Summary
  readonly second: Summary
  readonly seconds: number
  readonly tasks: number
  readonly valid: number
}

const svc = fileURLToPath(
  new URL(
    import.meta.url.includes('/test/dist/') ? '../../../cli/bin/svc.js' : '../../cli/bin/svc.js',
    import.meta.url,
  ),
)

/** Imports the file twice into a fresh platform and verifies every task of it. */
export async function importRuns(file: string, database: Readonly<Record<string, string>>): Promise<Outcome> {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-runs-'))
  const platform = await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: String(await freePort()), ...database })
  try {
    const started = performance.now()
    const first = runImport(platform, file)
    const seconds = (performance.now() - started) / 1000
    const second = runImport(platform, file)
    return { first, second, seconds, ...(await verifyAll(platform)) }
  } finally {
    await platform.terminate()
    rmSync(data_dir, { recursive: true, force: true })
  }
}

function runImport({ url, api_key }: PlatformProcess, file: string): Summary {
  const args = [svc, 'import', 'chat-completions', file, '--to', url, '--json']
  const env = { PATH: process.env.PATH, SVC_API_KEY: api_key }
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, maxBuffer: 1 << 26 })
  if (!stdout.startsWith('{')) throw new Error(`the import failed: ${stderr}`)
  return JSON.parse(stdout) as Summary
}

async function verifyAll({ url, operator_token }: PlatformProcess) {
  const get = async <T>(path: string) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${operator_token}` } })
    return (await response.json()) as T
  }
  let valid = 0
  let tasks = 0
  for (let skip = 0; ; skip += 100) {
    const page = await get<TaskList>(`/api/v1/logs/tasks?limit=100&skip=${skip}`)
    for (const { task_id } of page.tasks)
      if ((await get<Verification>(`/api/v1/tasks/${task_id}/verify`)).valid) valid++
    tasks = page.total
    if (skip + 100 >= page.total) return { tasks, valid }
  }
}

/** Prints the result; true when all checks passed. */
function report(kind: string, { first, second, seconds, tasks, valid }: Outcome): boolean {
  const { runs, steps, violations, would_block } = first
  const blocks = Object.values(would_block).reduce((sum, count) => sum + count, 0)
  console.log(
    `${kind}: ${runs} runs, ${steps} steps, ${Math.round(steps / seconds)} steps/s, ${valid} of ${tasks} tasks verified valid`,
  )
  for (const [name, count] of Object.entries(violations))
    console.log(`  ${String(count).padStart(6)} violations, ${would_block[name] ?? 0} would-be blocks  ${name}`)
  console.log(
    `  ${blocks} would-be blocks in all; the same file again: ${second.created} new, ${second.replayed} already stored`,
  )
  return (
    valid === runs && tasks === runs && second.created === 0 && second.replayed === steps && first.failures.length === 0
  )
}

async function main(file: string): Promise<void> {
  const postgres = await startPostgres()
  const databases = {
    PGlite: {},
    ...(postgres !== null && { PostgreSQL: { SVC_DATABASE_URL: postgres.emptyDatabase() } }),
  }
  for (const [kind, database] of Object.entries(databases)) {
    const held = report(kind, await importRuns(resolve(file), database as Record<string, string>))
    if (!held) process.exitCode = 1
  }
  await postgres?.remove()
}

const [, program, file] = process.argv
if (program === fileURLToPath(import.meta.url)) {
  if (file === undefined) {
    console.error('usage: npm run e2e:runs -- FILE   (one recorded run a line, chat-completions)')
    process.exitCode = 2
  } else await main(file)
}

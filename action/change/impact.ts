// The effect of the policies on recorded tasks.
import { createReadStream } from 'node:fs'
import { parseManifest, readTrace } from '@svc/engine'
import {
  createReplay,
  policiesOfManifests,
  quote,
  type Replay,
  type ReplayManifest,
  type ReplayResult,
  type SourceFile,
  type ValidatedManifest,
} from '@svc/engine/parts'
import { filesOf } from '../files/workspace.js'
import { UsageError } from '../usage-error.js'

export interface Impact {
  readonly result: ReplayResult
  readonly traces: readonly string[]
  /** The tasks were evaluated under the policies of the base too. */
  readonly is_compared: boolean
}

/** Steps and first blocks that a summary can name. */
const max_listed = 100

function isTraceFile(path: string): boolean {
  return /\.(jsonl|ndjson)$/i.test(path)
}

/** The trace files. Rejects with UsageError for a path without one: a replay of nothing shows no effect by accident. */
export async function traceFilesOf(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for (const path of paths) {
    const files = await filesOf(path, isTraceFile, rejectFolder)
    if (files.length === 0)
      throw new UsageError(`\`replay\`: ${quote(path)} matches no file: name traces such as \`traces/*.jsonl\``)
    for (const file of files) found.add(file)
  }
  return [...found]
}

function rejectFolder(folder: string, problem: string): never {
  throw new UsageError(`\`replay\`: ${quote(folder)}: ${problem}`)
}

/** The policies of manifests with the text of their files, for the lines of policies. */
export function replayed(manifests: readonly ValidatedManifest[], files: readonly SourceFile[]): ReplayManifest[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  return manifests.flatMap(({ file, value: manifest }) =>
    manifest === null ? [] : [{ manifest, file, lines: parseManifest(texts.get(file) ?? '', file).lines }],
  )
}

/** Evaluates the recorded tasks as whole paths. Rejects with UsageError for a file without a step. */
export async function impactOn(
  traces: readonly string[],
  manifests: readonly ReplayManifest[],
  old: readonly ReplayManifest[] | null,
): Promise<Impact> {
  const against = old === null ? {} : { against: policiesOfManifests(old) }
  const replay = createReplay({ policies: policiesOfManifests(manifests), ...against, max_listed })
  for (const trace of traces) await addTrace(trace, replay)
  return { result: replay.finish(), traces, is_compared: old !== null }
}

async function addTrace(file: string, replay: Replay): Promise<void> {
  const bytes = createReadStream(file, { highWaterMark: 256 * 1024 })
  const steps = await readTrace(bytes, { onLine: (reading) => replay.add(reading, file) })
  if (steps === 0) throw new UsageError(`\`replay\`: ${quote(file)} has no step: a trace has one step as JSON per line`)
}

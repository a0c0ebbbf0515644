// `svc replay`: reads manifests and traces, replays the tasks, and reports.
import type { Writable } from 'node:stream'
import { createReplay, neverApplied, policiesOfManifests, type ReplayManifest } from '@svc/engine'
import { jsonText, printable } from '@svc/proof'
import { progressBar } from '../import/progress.js'
import { baselineWord, readAgent, readManifests } from './replay-input.js'
import { replayMarkdown } from './replay-markdown.js'
import type { ReplayReport } from './replay-report.js'
import { replayText } from './replay-text.js'
import { addTrace, type TraceFaults, traceFiles, type UnreadableLine } from './replay-traces.js'

export interface ReplayCommandOptions {
  readonly manifest?: readonly string[]
  readonly against?: readonly string[]
  readonly agent?: string
  readonly limit: number
  readonly failOn?: 'blocked' | 'flipped'
  readonly json?: true
  readonly markdown?: true
}

export interface ReplayStreams {
  /** How `svc` was called. */
  readonly svc: string
  readonly out: Writable
  readonly err: Writable
}

/** Returns the exit code. */
export async function runReplay(
  traces: readonly string[],
  options: ReplayCommandOptions,
  { svc, out, err }: ReplayStreams,
): Promise<number> {
  const complain = (line: string) => err.write(`svc replay: ${printable(line)}\n`)
  try {
    if (options.manifest === undefined) complain('no --manifest given, the bundled baseline is replayed')
    const manifests = await readManifests(options.manifest ?? [baselineWord])
    const against = options.against === undefined ? null : await readManifests(options.against)
    const faults = newFaults(complain)
    const report = await replayed(traces, manifests, against, options, faults, svc)
    faults.finish()
    if (report.result.steps === 0) return 1
    out.write(textOf(report, options))
    return faults.count() > 0 || hasFailed(report, options) ? 1 : 0
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string }
    if (code === undefined) throw error
    for (const line of String(message).split('\n')) complain(line)
    return 1
  }
}

async function replayed(
  traces: readonly string[],
  manifests: readonly ReplayManifest[],
  against: readonly ReplayManifest[] | null,
  options: ReplayCommandOptions,
  faults: Faults,
  svc: string,
): Promise<ReplayReport> {
  const replay = createReplay({
    policies: policiesOfManifests(manifests),
    ...(against !== null && { against: policiesOfManifests(against) }),
    ...(options.agent !== undefined && { agent: readAgent(options.agent) }),
    max_listed: options.limit,
  })
  const files = traceFiles(traces)
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const progress = progressBar(Math.floor(bytes / 1024 / 1024), 'MiB')
  try {
    for (const file of files) await addTrace(file, replay, faults, progress)
  } finally {
    progress.stop()
  }
  const result = replay.finish()
  const named = (of: readonly ReplayManifest[]) => of.map(({ file }) => file)
  return {
    result,
    findings: neverApplied(result),
    unreadable: faults.lines,
    manifests: named(manifests),
    against: against && named(against),
    agent: options.agent ?? null,
    svc,
  }
}

function textOf(report: ReplayReport, { json, markdown }: ReplayCommandOptions): string {
  if (markdown) return replayMarkdown(report)
  if (!json) return `${replayText(report).map(printable).join('\n')}\n`
  const { result, findings, unreadable, manifests, against } = report
  return `${jsonText({ manifests, against, ...result, unreadable, findings })}\n`
}

/** A replay without the whole history of a task cannot show that nothing is blocked. */
function hasFailed({ result }: ReplayReport, { failOn }: ReplayCommandOptions): boolean {
  if (failOn !== undefined && result.history_lost.total > 0) return true
  if (failOn === 'blocked') return result.blocked_tasks > 0
  return failOn === 'flipped' && (result.flipped_tasks ?? 0) > 0
}

interface Faults extends TraceFaults {
  readonly lines: readonly UnreadableLine[]
  readonly count: () => number
  readonly finish: () => void
}

/** Unreadable lines that are named. */
const maxNamed = 20

function newFaults(complain: (line: string) => void): Faults {
  const lines: UnreadableLine[] = []
  let count = 0
  let empty = 0
  return {
    lines,
    unreadable: (fault) => {
      count += 1
      if (count > maxNamed) return
      lines.push(fault)
      complain(`${fault.file}:${fault.line}: ${fault.problem}`)
    },
    empty: (file) => {
      empty += 1
      complain(
        `\`${file}\` has no step: a trace has one step per line; convert recorded runs with \`import … --out steps.jsonl\``,
      )
    },
    count: () => count + empty,
    finish: () => {
      if (count > maxNamed) complain(`… and ${count - maxNamed} more lines cannot be read`)
    },
  }
}

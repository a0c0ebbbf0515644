// `svc replay`: reads manifests, replays the tasks of traces or of a platform, and reports.
import {
  createReplay,
  impactMarkdown,
  impactText,
  leftOutWords,
  neverApplied,
  policiesOfManifests,
  type ReplayManifest,
} from '@svc/engine/parts'
import { jsonText, printable } from '@svc/proof'
import { namingCommands } from '../../called-as.js'
import { progressBar } from '../../import/progress.js'
import type { Terminal } from '../../terminal.js'
import { baselineWord, type ReadManifest, readAgent, readManifests } from './input.js'
import { type ReplayReport, shownReplay } from './report.js'
import { addTrace, bytesOf, type TraceFaults, traceFiles, type UnreadableLine } from './traces.js'

export interface ReplayCommandOptions {
  readonly manifest?: readonly string[]
  readonly against?: readonly string[]
  readonly agent?: string
  readonly platform?: true
  readonly from?: string
  readonly to?: string
  readonly limit: number
  readonly failOn?: 'blocked' | 'flipped'
  readonly json?: true
  readonly markdown?: true
}

/** Has the platform of the session replay its recorded tasks. Rejects when it cannot. */
export type PlatformReplay = (
  manifests: readonly ReadManifest[],
  against: readonly ReadManifest[] | null,
  options: ReplayCommandOptions,
  terminal: Terminal,
) => Promise<ReplayReport>

/** Returns the exit code. */
export async function runReplay(
  traces: readonly string[],
  options: ReplayCommandOptions,
  terminal: Terminal,
  onPlatform: PlatformReplay,
): Promise<number> {
  const err = namingCommands(terminal.svc, terminal.stderr)
  const complain = (line: string) => err.write(`svc replay: ${printable(line)}\n`)
  try {
    if (options.manifest === undefined) complain('no --manifest given, the bundled baseline is replayed')
    const manifests = await readManifests(options.manifest ?? [baselineWord])
    const against = options.against === undefined ? null : await readManifests(options.against)
    const faults = newFaults(complain)
    const report = options.platform
      ? await onPlatform(manifests, against, options, terminal)
      : await replayed(traces, manifests, against, options, faults, terminal)
    faults.finish()
    for (const line of nothingReplayed(report)) complain(line)
    if (report.result.steps === 0) return 1
    terminal.stdout.write(textOf(report, options))
    return faults.count() > 0 || hasFailed(report, options) ? 1 : 0
  } catch (error) {
    // Errors of a session and of a platform have no code.
    const { code, message } = error as { code?: string; message?: string }
    if (code === undefined && !options.platform) throw error
    for (const line of String(message).split('\n')) complain(line)
    return 1
  }
}

/** Empty if a step was replayed; traces without a step are named while they are read. */
function nothingReplayed({ result, recorded }: ReplayReport): string[] {
  if (recorded === null || result.steps > 0) return []
  return [`no task to replay in ${recorded.of}`, ...leftOutWords(recorded.answer.left_out)]
}

async function replayed(
  traces: readonly string[],
  manifests: readonly ReplayManifest[],
  against: readonly ReplayManifest[] | null,
  options: ReplayCommandOptions,
  faults: Faults,
  { svc, stdin, stderr }: Terminal,
): Promise<ReplayReport> {
  const replay = createReplay({
    policies: policiesOfManifests(manifests),
    ...(against !== null && { against: policiesOfManifests(against) }),
    ...(options.agent !== undefined && { agent: readAgent(options.agent) }),
    max_listed: options.limit,
  })
  const files = traceFiles(traces)
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const progress = progressBar(stderr, Math.floor(bytes / 1024 / 1024), 'MiB')
  try {
    for (const file of files) await addTrace(bytesOf(file, stdin), file.name, { replay, faults, progress })
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
    recorded: null,
    agent: options.agent ?? null,
    svc,
  }
}

function textOf(report: ReplayReport, { json, markdown }: ReplayCommandOptions): string {
  if (markdown) return `${impactMarkdown(shownReplay(report)).join('\n\n')}\n`
  if (!json) return `${impactText(shownReplay(report)).map(printable).join('\n')}\n`
  const { result, findings, unreadable, manifests, against, recorded } = report
  if (recorded !== null) {
    const { answer, from, to } = recorded
    return `${jsonText({ manifests, against, from, to, ...answer, findings: [...answer.findings, ...findings] })}\n`
  }
  return `${jsonText({ manifests, against, ...result, unreadable, findings })}\n`
}

/** A replay without the whole history of a task, or without some tasks, cannot show that nothing is blocked. */
function hasFailed({ result, recorded }: ReplayReport, { failOn }: ReplayCommandOptions): boolean {
  if (failOn !== undefined && (result.history_lost.total > 0 || recorded?.is_cut)) return true
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

// The report of `svc replay`, in every format.
import { counted, type Finding, type ReplayResult, type ShownReplay, type ShownStep } from '@svc/engine/parts'
import { printable } from '@svc/proof'
import type { DryRunReport } from '@svc/schemas'
import { shellWord } from '../../called-as.js'
import { baselineWord } from './input.js'
import { stdinName, type UnreadableLine } from './traces.js'

export interface ReplayReport {
  readonly result: ReplayResult
  readonly findings: readonly Finding[]
  readonly unreadable: readonly UnreadableLine[]
  /** Files of the manifests that were replayed. */
  readonly manifests: readonly string[]
  readonly against: readonly string[] | null
  /** The recorded tasks of a platform; null for traces. */
  readonly recorded: RecordedTasks | null
  /** File with the agent; null when the traces name it. */
  readonly agent: string | null
  /** The name by which `svc` was called. */
  readonly svc: string
}

/** The tasks that a platform replayed, together with its other policies in effect. */
export interface RecordedTasks {
  /** The workspace, the period and the agent, as text. */
  readonly of: string
  readonly from: string
  /** Exclusive. */
  readonly to: string
  readonly answer: DryRunReport
  /** Tasks of the period are missing that a shorter period would have. */
  readonly is_cut: boolean
}

/** A longer command is of no use to a person. */
const maxCommand = 1000

/** The command that explains a step; null where no command can, such as for standard input. */
function explainCommandFor(
  { source, step, task_id, policies: [cause] }: ShownStep,
  { svc, agent, result }: ReplayReport,
): string | null {
  const manifest = cause?.manifest ?? null
  if (source === null || source === stdinName || step === null || step < 1 || manifest === null) return null
  if (task_id === '' && result.tasks > 1) return null
  const words = [
    'explain',
    ...(manifest === baselineWord ? [] : [fileWord(manifest)]),
    '--trace',
    fileWord(source),
    ...(task_id === '' ? [] : ['--task', task_id]),
    '--step',
    `${step}`,
    ...(agent === null ? [] : ['--agent', fileWord(agent)]),
  ]
  const command = `${svc} ${words.map(shellWord).join(' ')}`
  return command.length > maxCommand || printable(command) !== command ? null : command
}

/** Keeps a file whose name begins with a dash from being read as an option. */
function fileWord(path: string): string {
  return path.startsWith('-') ? `./${path}` : path
}

/** The report as the texts show it. */
export function shownReplay(report: ReplayReport): ShownReplay {
  const { result, findings, manifests, against, recorded } = report
  const policies = `${counted(result.policies.length, 'policy', 'policies')} of ${filesIn(manifests)}`
  return {
    result,
    under: recorded === null ? policies : `${policies} and of those in effect`,
    compared_with: against === null ? 'the policies in effect' : filesIn(against),
    recorded_in: recorded?.of ?? null,
    left_out: recorded?.answer.left_out ?? [],
    findings,
    commandFor: (step) => explainCommandFor(step, report),
  }
}

function filesIn(files: readonly string[]): string {
  return files.length === 1 ? `${files[0]}` : counted(files.length, 'manifest')
}

// What `svc replay` reports, in every format.
import {
  type Cause,
  type Finding,
  isNeverApplied,
  type PolicyTally,
  type ReplayResult,
  type StepPlace,
} from '@svc/engine'
import { printable } from '@svc/proof'
import type { DryRunReport } from '@svc/schemas'
import { shellWord } from '../called-as.js'
import { baselineWord } from './replay-input.js'
import { stdinName, type UnreadableLine } from './replay-traces.js'

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
  /** How `svc` was called. */
  readonly svc: string
}

/** The tasks that a platform replayed, together with its other policies in effect. */
export interface RecordedTasks {
  /** The workspace, the period and the agent, as text. */
  readonly of: string
  readonly from: string
  /** Exclusive. */
  readonly to: string
  /** Why other tasks of the period were not replayed, a sentence for each reason. */
  readonly left_out: readonly string[]
  readonly answer: DryRunReport
  /** Tasks of the period are missing that a shorter period would have. */
  readonly is_cut: boolean
}

/** A longer command is of no use to a person. */
const maxCommand = 1000

/** The command that explains a step; null where no command can, such as for standard input. */
export function explainCommandFor(
  { source, step, task_id }: StepPlace,
  [cause]: readonly Cause[],
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

/** What stops most comes first, policies that applied to nothing last. */
export function byWeight(a: PolicyTally, b: PolicyTally): number {
  return b.blocked - a.blocked || b.asked - a.asked || b.violated - a.violated || b.applicable - a.applicable
}

/** What the numbers of a policy mean for its author; empty for an ordinary policy. */
export function remarkOn(policy: PolicyTally, { tasks, unfinished_tasks }: ReplayResult): string {
  const { applicable, violated, scope } = policy
  if (scope === 'agent_registration') return 'at registration only'
  if (policy.tasks === 0) return 'for a higher risk level'
  if (isNeverApplied(policy, tasks - unfinished_tasks)) return 'never applied'
  if (applicable === 0) return 'no task has ended'
  if (violated === applicable) return 'always violated'
  return violated === 0 ? 'never violated' : ''
}

/** The place of a policy for a person. */
export function placeOf({
  manifest,
  line,
}: {
  readonly manifest: string | null
  readonly line: number | null
}): string {
  return `${manifest ?? 'unknown file'}${line === null ? '' : `:${line}`}`
}

/** `1 task`, `3 tasks`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** The sentences above the table. */
export function summaryOf({ result, manifests, against, recorded }: ReplayReport): string[] {
  const { tasks, steps, policies, unfinished_tasks, recorded_blocks, unreadable_lines } = result
  const files = (of: readonly string[]) => (of.length === 1 ? `${of[0]}` : counted(of.length, 'manifest'))
  return [
    `replayed ${counted(tasks, 'task')} with ${counted(steps, 'step')} under ${counted(policies.length, 'policy', 'policies')} of ${files(manifests)}${recorded === null ? '' : ' and of those in effect'}`,
    ...(recorded === null ? [] : [`recorded in ${recorded.of}`]),
    outcomesOf(result),
    ...(result.flipped_tasks === null
      ? []
      : [flipsOf(result, against === null ? 'the policies in effect' : files(against))]),
    ...(recorded?.left_out ?? []),
    ...(recorded_blocks === 0 ? [] : [`${counted(recorded_blocks, 'step')} recorded as blocked`]),
    ...(unfinished_tasks === 0
      ? []
      : [`${counted(unfinished_tasks, 'task')} without an end, so without the policies of finished tasks`]),
    ...lossesOf(result),
    ...(unreadable_lines === 0 ? [] : [`${counted(unreadable_lines, 'line')} left out, because unreadable`]),
  ]
}

function outcomesOf({ blocked_tasks, asked_tasks, warned_tasks }: ReplayResult): string {
  const parts = [
    `blocked: ${counted(blocked_tasks, 'task')}`,
    `a person asked: ${counted(asked_tasks, 'task')}`,
    `violations without a block: ${counted(warned_tasks, 'task')}`,
  ]
  return parts.join('; ')
}

function flipsOf(result: ReplayResult, old: string): string {
  const { flipped_tasks, newly_blocked_tasks, newly_asked_tasks, no_longer_blocked_tasks, flips } = result
  const parts = [
    `compared with ${old}: ${counted(flips.total, 'step')} in ${counted(flipped_tasks ?? 0, 'task')} ${flips.total === 1 ? 'changes' : 'change'}`,
    `newly blocked: ${counted(newly_blocked_tasks ?? 0, 'task')}`,
    `would now wait for a person: ${counted(newly_asked_tasks ?? 0, 'task')}`,
    `no longer blocked: ${counted(no_longer_blocked_tasks ?? 0, 'task')}`,
  ]
  return parts.join('; ')
}

function lossesOf({ history_lost, skipped_tasks, rejected }: ReplayResult): string[] {
  const lines: string[] = []
  if (history_lost.total > 0)
    lines.push(
      `${counted(history_lost.total, 'task')} with an incomplete history, because too many tasks ran at once: ${some(history_lost.listed)}`,
    )
  if (skipped_tasks.total > 0)
    lines.push(
      `${counted(skipped_tasks.total, 'task')} skipped, ${skipped_tasks.listed[0]?.reason}: ${some(skipped_tasks.listed.map(({ task_id }) => task_id))}`,
    )
  for (const { name, reason } of rejected) lines.push(`policy \`${name}\` is not in effect: ${reason}`)
  return lines
}

const maxNames = 5

function some(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).map((name) => `\`${shortened(name)}\``)
  return `${shown.join(', ')}${names.length > maxNames ? ', …' : ''}`
}

/** A name that fits on a line. */
export function shortened(text: string, length = 60): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

/** The step with its task. */
export function stepName({ task_id, step, step_type, verb, step_name }: StepPlace): string {
  const number = step === null ? 'its end' : `step ${step}`
  const what = [step_type, verb, step_name].filter((part) => part !== null).join(' ')
  return `task \`${shortened(task_id)}\`, ${number}: ${shortened(what, 100)}`
}

/** What the policy did, and why. */
export function causeTitle(cause: Cause): string {
  const { name, side, effect, severity } = cause
  const set = side === 'old' ? 'before: ' : ''
  return `${set}${shortened(name)} ${effect === 'observed' || effect === 'waived' ? `is ${effect}` : effect} (${severity}; ${placeOf(cause)})`
}

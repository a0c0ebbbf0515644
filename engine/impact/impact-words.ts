// The impact of policies on recorded tasks in sentences: the same on a terminal, in Markdown and in a check run.
import type { DryRunReport } from '@svc/schemas'
import type { Finding } from '../findings/finding.js'
import { counted } from '../findings/words.js'
import type { TaskCounts } from './impact.js'
import { isNeverApplied } from './replay/findings.js'
import type { Flip, Outcome, PolicyTally, ReplayResult, StepPlace } from './replay/result.js'

/** The changes of tasks, the worst first. */
export const taskChanges = [
  ['newly_blocked_tasks', 'would now be blocked'],
  ['newly_asked_tasks', 'would now wait for a person'],
  ['no_longer_blocked_tasks', 'would no longer be blocked'],
] as const satisfies readonly (readonly [keyof TaskCounts, string])[]

type Counts = { readonly [name in Exclude<keyof TaskCounts, 'steps'>]: number | null }

/** Such as `14 of 212 recorded tasks would now be blocked, 2 would now wait for a person`. */
export function changeSentence(counts: Counts, kind: 'recorded' | 'sampled' = 'recorded'): string {
  const tasks = counted(counts.tasks ?? 0, `${kind} task`)
  const flipped = counts.flipped_tasks ?? 0
  const found = taskChanges.map(([name, what]) => [counts[name] ?? 0, what] as const)
  const others = [flipped, `${flipped === 1 ? 'has' : 'have'} a step that would end otherwise`] as const
  return shareOf(tasks, found) ?? shareOf(tasks, [others]) ?? `${tasks} replayed, and every step ends as before`
}

/** Such as `6 of 30 recorded tasks would be blocked, 1 would wait for a person`; a task can be in several of the numbers. */
function outcomeSentence({ blocked_tasks, asked_tasks, warned_tasks, ...result }: ReplayResult): string {
  const tasks = counted(result.tasks, 'recorded task')
  const found = [
    [blocked_tasks, 'would be blocked'],
    [asked_tasks, 'would wait for a person'],
    [warned_tasks, 'would violate a policy that only warns'],
  ] as const
  return shareOf(tasks, found) ?? `${tasks} replayed, and every step would be allowed`
}

/** The numbers that are not 0; null without one. */
function shareOf(tasks: string, found: readonly (readonly [number, string])[]): string | null {
  const parts = found
    .filter(([count]) => count > 0)
    .map(([count, what], index) => `${count.toLocaleString('en-US')}${index === 0 ? ` of ${tasks}` : ''} ${what}`)
  return parts.length === 0 ? null : parts.join(', ')
}

/** The numbers of replayed tasks and steps; `under` names the policies. */
export function replayedWords({ tasks, steps }: Pick<TaskCounts, 'tasks' | 'steps'>, under: string): string {
  return `replayed ${counted(tasks, 'task')} with ${counted(steps, 'step')} under ${under}`
}

/** The limits of the numbers. */
export const pathNote =
  'Each task is replayed from its first step to its last. A step that would be blocked happened all the same when it was recorded. What the agent would have done instead is not known, so the steps after it are counted as they were recorded.'

type LeftOut = Readonly<DryRunReport['left_out'][number]>

const reasons: Readonly<Record<LeftOut['reason'], string>> = {
  payload_erased: 'a payload was erased',
  metadata_only: 'recorded without payloads',
  pruned: 'the retention period of a step is over',
  too_long: 'more than 10,000 steps or 8 MiB in one task',
  too_many:
    'more than one replay takes, which is 10,000 tasks of 200 agents, 30,000 steps (fewer with more than 60 policies) or 64 MiB; the latest tasks are replayed. Use a shorter period, or --agent',
}

/** Recorded tasks that were not replayed, a line for each reason. */
export function leftOutWords(left_out: readonly LeftOut[]): string[] {
  return left_out
    .filter(({ tasks }) => tasks > 0)
    .map(({ reason, tasks }) => `${counted(tasks, 'task')} left out: ${reasons[reason]}`)
}

/** Causes that make the numbers less certain, a line for each. */
function doubtsOf(result: ReplayResult): string[] {
  const { recorded_blocks, unfinished_tasks, unreadable_lines, history_lost, skipped_tasks, rejected } = result
  const skipped = skipped_tasks.listed.map(({ task_id }) => task_id)
  const lines = [
    [recorded_blocks, 'step', 'recorded as blocked'],
    [unfinished_tasks, 'task', 'without an end, so without the policies of finished tasks'],
    [
      history_lost.total,
      'task',
      `with an incomplete history, because too many tasks ran at once: ${some(history_lost.listed)}`,
    ],
    [skipped_tasks.total, 'task', `skipped, ${skipped_tasks.listed[0]?.reason}: ${some(skipped)}`],
    [unreadable_lines, 'line', 'left out, because unreadable'],
  ] as const
  return [
    ...lines.flatMap(([count, noun, what]) => (count === 0 ? [] : [`${counted(count, noun)} ${what}`])),
    ...rejected.map(({ name, reason }) => `policy \`${name}\` is not in effect: ${reason}`),
  ]
}

/** A replay, as the texts show it. */
export interface ShownReplay {
  readonly result: ReplayResult
  /** The policies, such as `2 policies of refunds.yaml`. */
  readonly under: string
  /** The policies to compare with, if there are any. */
  readonly compared_with: string
  /** The source of the tasks, such as `3 traces`; null if the reader knows it. */
  readonly recorded_in: string | null
  /** Recorded tasks that were not replayed. */
  readonly left_out: readonly LeftOut[]
  readonly findings: readonly Finding[]
  /** The command that explains a step; null if no command can. */
  readonly commandFor: (step: ShownStep) => string | null
}

/** The sentences above the tables: `found` is the result, the others say on what. */
export function summaryOf({ result, under, compared_with, recorded_in, left_out }: ShownReplay) {
  const compared = comparedWords(result, compared_with)
  return {
    replayed: [replayedWords(result, under), ...(recorded_in === null ? [] : [`recorded in ${recorded_in}`])],
    found: [outcomeSentence(result), ...(compared === null ? [] : [compared])],
    doubts: [...leftOutWords(left_out), ...doubtsOf(result)],
  }
}

function comparedWords({ flips, ...result }: ReplayResult, compared_with: string): string | null {
  if (result.flipped_tasks === null) return null
  const steps = `${counted(flips.total, 'step')} in ${counted(result.flipped_tasks, 'task')} ${flips.total === 1 ? 'changes' : 'change'}`
  return `compared with ${compared_with}: ${changeSentence(result)}${flips.total === 0 ? '' : `; ${steps}`}`
}

const maxNames = 5

function some(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).map((name) => `\`${short(name)}\``)
  return `${shown.join(', ')}${names.length > maxNames ? ', …' : ''}`
}

/** A name that fits on a line. */
export function short(text: string, max = 60): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}

/** The step itself, such as `step.exec POST refund`. */
export function stepWords({ step_type, verb, step_name }: StepPlace): string {
  return [step_type, verb, step_name].flatMap((part) => part ?? []).join(' ')
}

const outcomes: Readonly<Record<Outcome, string>> = {
  allow: 'allowed',
  warn: 'allowed, with a warning',
  ask: 'a person is asked',
  block: 'blocked',
}

/** The outcome of a step; `before` is null without policies to compare with. */
export function outcomeWords({ before, after }: Pick<ShownStep, 'before' | 'after'>): [before: string, after: string] {
  return [before === null ? '' : `${outcomes[before]} → `, outcomes[after]]
}

/** A step that is listed. */
export type ShownStep = Omit<Flip, 'before'> & { readonly before: Outcome | null }

/** The steps that flip; without policies to compare with, the first step of each task that would not be allowed. */
export function shownSteps(
  { flipped_tasks, flips, first_blocks }: ReplayResult,
  max = Number.POSITIVE_INFINITY,
): { readonly title: string | null; readonly listed: readonly ShownStep[] } {
  const is_compared = flipped_tasks !== null
  const blocks = first_blocks.listed.map(({ outcome, ...place }) => ({ ...place, before: null, after: outcome }))
  const listed = (is_compared ? flips.listed : blocks).slice(0, max)
  const { total } = is_compared ? flips : first_blocks
  const what = is_compared ? 'steps whose outcome changes' : 'first steps that would not have been allowed'
  const of = is_compared ? `${total}` : counted(total, 'task')
  return { title: total === 0 ? null : `${what} (${listed.length} of ${of})`, listed }
}

export const policyHeads = [
  'policy',
  'severity',
  'applied',
  'passed',
  'violated',
  'blocked',
  'asked',
  'tasks',
  '',
] as const

/** The cells of each policy, under `policyHeads`: what stops most comes first, policies that applied to nothing last. */
export function policyCells(result: ReplayResult): string[][] {
  return result.policies.toSorted(byWeight).map((policy) => {
    const { name, severity, mode, applicable, passed, violated, blocked, asked, tasks_violated } = policy
    const counts = [applicable, passed, violated, blocked, asked, tasks_violated].map(String)
    return [short(name), `${severity}${mode === 'observe' ? ', observed' : ''}`, ...counts, remarkOn(policy, result)]
  })
}

function byWeight(a: PolicyTally, b: PolicyTally): number {
  return b.blocked - a.blocked || b.asked - a.asked || b.violated - a.violated || b.applicable - a.applicable
}

/** The meaning of the numbers of a policy for its author; empty for an ordinary policy. */
function remarkOn(policy: PolicyTally, { tasks, unfinished_tasks }: ReplayResult): string {
  const { applicable, violated, scope } = policy
  if (scope === 'agent_registration') return 'at registration only'
  if (policy.tasks === 0) return 'for a higher risk level'
  if (isNeverApplied(policy, tasks - unfinished_tasks)) return 'never applied'
  if (applicable === 0) return 'no task has ended'
  if (violated === applicable) return 'always violated'
  return violated === 0 ? 'never violated' : ''
}

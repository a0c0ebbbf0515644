// What recorded tasks would have met, in the summary.
import { causesMarkdown, limited, placeCells, type ReplayResult, row, table } from '@svc/engine'
import type { Impact } from '../change/impact.js'
import { counted } from './report.js'

const maxBytes = 150_000
/** Steps that are named. */
const maxSteps = 30

export function impactParts(impact: Impact | null): string[] {
  if (impact === null) return []
  const { result, traces, is_compared } = impact
  const { texts, more } = is_compared ? flips(result) : blocks(result)
  const heads = is_compared ? ['Task', 'Step', 'Before', 'Now', 'Because of'] : ['Task', 'Step', 'Now', 'Because of']
  const replayed = `${counted(result.tasks, 'recorded task')} with ${counted(result.steps, 'step')} (${counted(traces.length, 'trace')})`
  return [
    '## Impact on recorded tasks',
    headline(impact),
    `Evaluated again, each task as a whole path: ${replayed}.`,
    ...(texts.length > 0 ? [table(heads, texts)] : []),
    ...(more > 0 ? [`${counted(more, 'more step')}: \`svc replay\` lists them.`] : []),
    ...remarks(result),
  ]
}

function headline({ result, is_compared }: Impact): string {
  const { tasks, blocked_tasks, asked_tasks, flipped_tasks } = result
  const { newly_blocked_tasks, newly_asked_tasks, no_longer_blocked_tasks } = result
  if (!is_compared)
    return `**${blocked_tasks} of ${counted(tasks, 'task')} would be blocked; ${asked_tasks} would wait for a person.**`
  const now = `**${newly_blocked_tasks ?? 0} of ${counted(tasks, 'task')} would now be blocked, ${newly_asked_tasks ?? 0} would now wait for a person, ${no_longer_blocked_tasks ?? 0} would no longer be blocked.**`
  return `${now} In ${counted(flipped_tasks ?? 0, 'task')} at least one step has another outcome.`
}

interface Rows {
  readonly texts: readonly string[]
  readonly more: number
}

function flips({ flips: { total, listed } }: ReplayResult): Rows {
  const rows = listed
    .slice(0, maxSteps)
    .map((flip) => row(...placeCells(flip), flip.before, `**${flip.after}**`, causesMarkdown(flip.policies)))
  return rowsOf(rows, total)
}

function blocks({ first_blocks: { total, listed } }: ReplayResult): Rows {
  const rows = listed
    .slice(0, maxSteps)
    .map((block) => row(...placeCells(block), `**${block.outcome}**`, causesMarkdown(block.policies)))
  return rowsOf(rows, total)
}

function rowsOf(rows: readonly string[], total: number): Rows {
  const { texts } = limited(rows, maxBytes)
  return { texts, more: total - texts.length }
}

/** What makes the numbers less certain. */
function remarks({ unfinished_tasks, unreadable_lines, history_lost, skipped_tasks }: ReplayResult): string[] {
  const lines = [
    ...(unfinished_tasks > 0 ? [`${counted(unfinished_tasks, 'task')} without an end`] : []),
    ...(unreadable_lines > 0 ? [`${counted(unreadable_lines, 'line')} left out, because unreadable`] : []),
    ...(skipped_tasks.total > 0 ? [`${counted(skipped_tasks.total, 'task')} skipped`] : []),
    ...(history_lost.total > 0 ? [`${counted(history_lost.total, 'task')} with an incomplete history`] : []),
  ]
  return lines.length === 0 ? [] : [`What makes these numbers less certain: ${lines.join('; ')}.`]
}

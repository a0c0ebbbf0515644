// A step of a recorded task and what makes its outcome, as cells of a table.
import { markdownCode, markdownText } from '../findings/markdown.js'
import { messageMarkdown, shortened } from '../findings/markdown-parts.js'
import type { Cause, StepPlace } from './replay-result.js'

/** The task, and the step with what it was. */
export function placeCells({ task_id, step, step_type, verb, step_name }: StepPlace): [string, string] {
  const what = [step_type, verb, step_name].flatMap((part) => part ?? []).join(' ')
  const task = markdownCode(shortened(task_id))
  return [task, `${step === null ? 'its end' : step}: ${markdownText(shortened(what))}`]
}

/** Policies of a step that are named. */
const maxCauses = 5

/** The policies with their reasons. */
export function causesMarkdown(causes: readonly Cause[]): string {
  const shown = causes.slice(0, maxCauses).map(({ name, side, reason }) => {
    const was = side === 'old' ? 'before: ' : ''
    return `${was}**${markdownText(shortened(name))}**: ${messageMarkdown(reason)}`
  })
  const more = causes.length - shown.length
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join('<br>')
}

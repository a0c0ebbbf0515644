// A decision whose step was never recorded, as one line of text for the operator.
import { escaped, maxName } from './blocked-line.js'
import type { OpenDecision } from './open-decision.js'

const decided = { allow: 'allowed', warn: 'allowed with a warning', ask: 'asked about', block: 'blocked' }

/** Which step it was about, and what to do. `waited` is in ms. */
export function unrecordedText({ task_id, evaluation_id, intended, outcome }: OpenDecision, waited: number): string {
  const { step_type, step_name } = intended
  const name = step_name === undefined ? '' : ` "${escaped(step_name, maxName)}"`
  const seconds = Math.round(waited / 1000)
  const may_have_run = outcome === 'allow' || outcome === 'warn'
  const how = may_have_run ? 'record it with /record' : 'record it with `output.status` `blocked`'
  return (
    `not recorded: task ${escaped(task_id, maxName)}, ${step_type}${name}: ${decided[outcome]} ${seconds} s ago, ` +
    `evaluation ${evaluation_id}; ${how}, or give it up with /release`
  )
}

/** That there were more than have a line of their own. */
export function othersText(count: number): string {
  return `not recorded: ${count} other decisions; record each step with /record, or set SVC_RECORD_TIMEOUT_SECONDS=0 to watch none`
}

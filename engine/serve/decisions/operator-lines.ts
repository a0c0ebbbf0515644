// Lines of text for the operator: a step that is blocked or asked about, and a decision whose step was never recorded.
import type { Step } from '@svc/schemas'
import type { LocalEvaluation } from './local-evaluation.js'
import type { OpenDecision } from './open-decision.js'

/** Characters of a name, and of a reason or a remedy, so that the line stays readable. */
export const maxName = 100
const maxSentence = 300

/** Names the step that is blocked or asked about, the reason, the policy, and the remedy. */
export function blockedLine({ task_id = '', step_type, step_name }: Step, evaluation: LocalEvaluation): string {
  const [worst] = evaluation.violations
  const { reason = '', remedy = null } = worst?.violation_details ?? {}
  const name = step_name === undefined ? '' : ` "${escaped(step_name, maxName)}"`
  const by = onOneLine(worst?.name ?? '', maxName)
  const hint = remedy === null ? 'none' : onOneLine(remedy, maxSentence)
  const verdict = evaluation.outcome === 'ask' ? 'approval required' : 'blocked'
  const blocked = `${verdict}: task ${onOneLine(task_id, maxName)}, ${step_type}${name}`
  return `${blocked}: ${onOneLine(reason, maxSentence)} [${by}]; remedy: ${hint}`
}

const decided = { allow: 'allowed', warn: 'allowed with a warning', ask: 'asked about', block: 'blocked' }

/** Names the step of the decision, and what to do. `waited` is in ms. */
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

/** States that there were more than have separate lines. */
export function othersText(count: number): string {
  return `not recorded: ${count} other decisions; record each step with /record, or set SVC_RECORD_TIMEOUT_SECONDS=0 to watch none`
}

/** Text that stays on its line and inside its quotes, cut to a length. */
export function escaped(text: string, length: number): string {
  return onOneLine(text, length, /["\\]/g)
}

/** Text that stays on its line, cut to a length; a backslash goes before what `quoted` matches. */
function onOneLine(text: string, length: number, quoted?: RegExp): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text
  const shown = quoted === undefined ? cut : cut.replaceAll(quoted, String.raw`\$&`)
  return shown.replaceAll(
    /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

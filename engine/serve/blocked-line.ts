// A step that is blocked or asked about as one line of text for the operator.
import type { Step } from '@svc/schemas'
import type { LocalEvaluation } from './local-evaluation.js'

/** Characters of a name, and of a reason or a remedy, so that the line stays readable. */
export const maxName = 100
const maxSentence = 300

/** Which step is blocked or asked about, why, by which policy, and what would allow it. */
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

// A block as one line of text, for the person who watches the engine.
import type { Step } from '@svc/schemas'
import type { JudgedEvaluation } from './judged.js'

/** Characters of a name, and of a reason or a remedy: the line stays readable, whatever is sent. */
const maxName = 100
const maxSentence = 300

/** Which step is blocked, why, by which policy, and what would allow it. */
export function blockedLine({ task_id = '', step_type, step_name }: Step, evaluation: JudgedEvaluation): string {
  const [worst] = evaluation.violations
  const { reason = '', remedy = null } = worst?.violation_details ?? {}
  const name = step_name === undefined ? '' : ` "${escaped(step_name, maxName)}"`
  const by = escaped(worst?.name ?? '', maxName)
  const mend = remedy === null ? 'none is known' : escaped(remedy, maxSentence)
  const what = `blocked: task ${escaped(task_id, maxName)}, ${step_type}${name}`
  return `${what}: ${escaped(reason, maxSentence)} [${by}]; remedy: ${mend}`
}

/** Text that stays on its line and inside its quotes, cut to a length. */
function escaped(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text
  return cut.replaceAll(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029"\\]/gu, (character) =>
    character === '"' || character === '\\'
      ? `\\${character}`
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

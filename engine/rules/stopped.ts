// The rule that lets no further step happen (docs/design/engine.md §3): what a stop of the platform puts in effect, and a kill
// switch for manifests.
import { canonicalType, isBlocked } from '@svc/schemas'
import { onOneLine } from '../check/quote.js'
import { defineStepRule, PASS, stepViolation } from './rule.js'

/** A stopped task may end. */
const ends: ReadonlySet<string> = new Set(['task.end', 'task.error'])

export const stoppedRules = [
  defineStepRule({
    name: 'stopped',
    category: 'flow',
    scopes: ['step_execution'],
    targets: false,
    params: {
      type: 'object',
      additionalProperties: false,
      properties: {
        reason: { type: 'string', minLength: 1, maxLength: 1000, description: 'why the agents are stopped' },
        stop_id: {
          type: 'string',
          // Part of a command in the remedy.
          pattern: '^[A-Za-z0-9_-]{1,100}$',
          description: 'the stop of the platform that it comes from',
        },
        stopped_by: { type: 'string', minLength: 1, description: 'who stopped the agents' },
      },
    },
    stricter: { reason: 'none', stop_id: 'none', stopped_by: 'none' },
    doc: 'Violated by every step but `task.end` and `task.error`. A step recorded as blocked (`output.status` is `blocked`) passes: it obeyed.',
    example: { reason: 'refunds go to wrong accounts' },
    compile: ({ reason, stop_id, stopped_by }) => {
      const by = stopped_by === undefined ? '' : ` by ${whole(stopped_by)}`
      const why = reason === undefined ? '' : `: ${whole(reason)}`
      const message = `the agent is stopped${by}${why}`
      const resumed =
        stop_id === undefined
          ? 'take the policy out of its manifest, or disable it'
          : `an owner, admin or member of the workspace resumes it with \`svc resume ${stop_id}\`, or POST /api/v1/stops/${stop_id}/resume`
      const remedy = `do not retry: ${resumed}; until then the task can only end, with \`task.end\` or \`task.error\``
      return (context) => {
        const { step, happened } = context
        if (ends.has(canonicalType(step.step_type))) return PASS
        // An intended step is not excused by an output that it carries from an earlier attempt.
        if (happened === true && isBlocked(step)) return PASS
        return stepViolation(context, 'STOPPED', message, remedy)
      }
    },
  }),
]

/** The text in backticks, uncut: a reader of the block needs the whole reason. */
function whole(text: string): string {
  return `\`${onOneLine(text.replaceAll('`', "'"))}\``
}

// The rule that lets no further step happen (docs/design/engine.md §3): what a stop of the platform puts in effect, and a kill
// switch for manifests.
import { canonicalType, isBlocked, type Step } from '@svc/schemas'
import { onOneLine } from '../check/quote.js'
import { defineStepRule, PASS, stepViolation } from './form/rule.js'
import { compileStepField } from './selection/lookup.js'
import { comparable } from './values/spelled.js'

/** A stopped task may end, by a step that does nothing else: one with a name, a verb, an input or an act counts as a tool. */
const ends: ReadonlySet<string> = new Set(['task.end', 'task.error'])
const isBare = ({ step_name, verb, input, properties }: Step) =>
  !step_name && !verb && Object.keys(input ?? {}).length === 0 && namesIn(properties).every((name) => ofAnEnd.has(name))

/** The first segments of properties that describe the end of a task; every other one may name an act. */
const ofAnEnd: ReadonlySet<string> = new Set(['usage', 'data', 'content', 'svc'])
/** Those that name an act, whatever the step. */
const ofAnAct: ReadonlySet<string> = new Set(['exec', 'target', 'tool', 'http'])

/** The first segments of the paths of properties, which are nested or dotted. */
const namesIn = (properties: Step['properties']) =>
  Object.keys(properties ?? {}).map((name) => name.split('.', 1)[0] ?? '')

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
          pattern: '^[A-Za-z0-9_-]{1,100}$',
          description: 'the stop of the platform that it comes from',
        },
        stopped_by: { type: 'string', minLength: 1, description: 'who stopped the agents' },
        deactivated: { type: 'boolean', description: 'the platform stops the agent because it is deactivated' },
      },
    },
    stricter: { reason: 'none', stop_id: 'none', stopped_by: 'none', deactivated: 'none' },
    doc: 'Violated by every step but `task.end` and `task.error` without a name, a verb, an input and properties other than `usage`, `data`, `content` and `svc`. A step recorded as blocked (`output.status` is `blocked`) passes: it obeyed. So do a recorded `task.start` and a recorded message (`GET`) of a counterpart that is not an agent or a service, which are not acts of the agent.',
    example: { reason: 'refunds go to wrong accounts' },
    compile: ({ reason, stop_id, stopped_by, deactivated = false }) => {
      const by = stopped_by === undefined ? '' : ` by ${whole(stopped_by)}`
      const why = reason === undefined ? '' : `: ${whole(reason)}`
      const message = `the agent is ${deactivated ? 'deactivated' : 'stopped'}${by}${why}`
      const people = stop_id === undefined && !deactivated ? 'people' : 'an owner, admin or member of the workspace'
      const lifted = `only ${people} can ${deactivated ? 'reactivate' : 'resume'} the agent`
      const remedy = `do not retry: ${lifted}; until then the task can only end, with \`task.end\` or \`task.error\``
      return (context) => {
        const { step, happened } = context
        if (ends.has(canonicalType(step.step_type)) && isBare(step)) return PASS
        // An intended step is not excused by an output that it carries from an earlier attempt.
        if (happened === true && (isBlocked(step) || isReceived(step))) return PASS
        return stepViolation(context, 'STOPPED', message, remedy)
      }
    },
  }),
]

const kind = 'counterpart.kind'
const counterpart = compileStepField(kind, 'field')

/** Counterparts that are programs; the list of kinds is open, and every other one is a person. */
const programs: ReadonlySet<unknown> = new Set(['agent', 'service'])

/** The start of a task, or a message of a person: others do this to the agent, and an engine could not have stopped it. */
function isReceived(step: Step): boolean {
  const type = canonicalType(step.step_type)
  if (type === 'task.start') return !namesIn(step.properties).some((name) => ofAnAct.has(name))
  return type === 'step.message' && step.verb === 'GET' && !programs.has(comparable(kind, counterpart(step)))
}

/** The text in backticks, uncut: a reader of the block needs the whole reason. */
function whole(text: string): string {
  return `\`${onOneLine(text.replaceAll('`', "'"))}\``
}

// Sentences for a model, which acts on its own reading of them: what is not allowed, and what would be. They are constant text by
// the code of the violation, so that nothing of a policy, a step or a tool is quoted, and no command of a person is named. None
// advises a new task for a step that the history of this one forbids: a model would leave the history behind that way.
import type { StepViolation } from '@svc/schemas'

/** Every code of a violation, with its sentence. */
export const messages: Readonly<Record<string, string>> = {
  AMBIGUOUS_FIELD:
    'A value in this step can be read in two ways. Send each value once, and as one clear number or text.',
  BUDGET_EXCEEDED: 'This step would use more than this task may. Use less, or end the task.',
  CONDITION_HOLDS: 'This step is not allowed under the present conditions. Do it in a way that its policy allows.',
  CONDITION_VIOLATED: 'This step does not meet the conditions of its policy. Do it in a way that meets them.',
  CREDIT_SPENT: 'The preparation for this step was already used for another one. Do the preparation again first.',
  DOMAIN_NOT_ALLOWED: 'This destination is not allowed. Use a destination from the list of allowed ones.',
  FIELD_EMPTY: 'A value that this step needs is missing. Send the step with that value.',
  FIELD_NOT_IN_LIST: 'A value of this step is not one of the allowed values. Use an allowed value.',
  FIELD_NOT_IN_RANGE: 'A number of this step is outside the allowed range. Use a number within it.',
  FIELD_NO_MATCH: 'A value of this step does not have the required form. Use a value of that form.',
  FLOW_LIMIT: 'This task holds more content than can be checked, so this step is not allowed. Go on without this step.',
  FORBIDDEN_FOR_CLASSIFICATION:
    'An agent of this risk level may not do this step. Leave it to a person or another agent.',
  FORBIDDEN_PREDECESSOR: 'This step is not allowed after an earlier step of this task. Go on without this step.',
  FORBIDDEN_SEQUENCE: 'This step is not allowed after the steps before it. Go on without this step.',
  GATE_FAILED: 'The latest check or approval did not pass. Get a new one that passes before this step.',
  GATE_MISSING: 'This step needs a check or an approval first. Get it, then do this step.',
  GATE_NOT_BOUND: 'No approval is for exactly this step. Get an approval of this step before it runs.',
  GATE_SPENT: 'The approval of this step was already used. Get a new approval before this step.',
  GATE_STALE: 'The check or approval of this step is too old. Get a new one right before this step.',
  HISTORY_LOST: 'Earlier steps of this task are not known, so this step is not allowed. Go on without this step.',
  HOST_UNREADABLE: 'The destination of this step cannot be read. Write it as a plain address.',
  INTERVENED:
    'Another step came between this step and its preparation. Do the preparation again right before this step.',
  NAME_NOT_ALLOWED: 'This tool is not one that this task may use. Use one of the tools that the task declared.',
  NODE_MISSING: 'A required step is missing in this task. Do that step before the task ends.',
  NOT_DIRECTLY_PRECEDED: 'The step right before this one is not the required one. Do the required step first.',
  NOT_IN_HISTORY: 'A required earlier step is missing in this task. Do that step first.',
  NOT_SUCH_STEP: 'This kind of step is not allowed here. Use a kind of step that its policy allows.',
  NOT_TEXT: 'A value of this step must be plain text. Send it as text.',
  NO_CONDITION_HOLDS: 'This step meets none of the conditions that would allow it. Meet one of them first.',
  OUTSIDE_HOURS: 'This step is not allowed at this time. Do it within the allowed hours.',
  PATH_OUTSIDE_ROOT: 'This path is outside the folder of the project. Use a path inside that folder.',
  PATH_UNREADABLE: 'The path of this step cannot be read. Write it as a plain path inside the folder of the project.',
  PATTERN_FOUND: 'This step holds data that must not be sent. Remove that data, then send the step.',
  PATTERN_MISSING: 'A required text is missing in this step. Send the step with that text.',
  PREDECESSOR_MISSING: 'A required step is missing before this one. Do that step first.',
  RULE_ERROR: 'This step cannot be checked, so it is not allowed. Do it in a simpler form.',
  SEQUENCE_MISSING: 'The required steps before this one are missing or in another order. Do them in order first.',
  STOPPED: 'A person has stopped this agent. Do not try again; end the task and tell the user that it was stopped.',
  TAINTED: 'This step is not allowed after this task has read such content. Go on without this step.',
  TOO_FAST: 'Too many such steps came in a short time. Wait before the next one.',
  TOO_LONG: 'A value of this step is too long. Send a shorter one.',
  TOO_MANY_CALLS: 'This task has used all its calls of tools. End the task.',
  TOO_MANY_IN_A_ROW: 'Too many such steps came in a row. Do a step of another kind first.',
  TOO_MANY_STEPS: 'This task has done as many such steps as it may. End the task, or go on without such a step.',
  UNGOVERNED: 'No policy is in effect, so no step is allowed. Wait until a person has mended this.',
  VALUE_FLOW: 'This step would send content to a place where it must not go. Leave that content out.',
  VALUE_MISSING: 'This step lacks a value that must come from the user or a trusted source. Ask the user for it.',
  VALUE_NOT_GIVEN: 'A value of this step was not given by the user or a trusted source. Ask the user for it.',
}

const ofOtherCodes = 'This step is not allowed. Do it in another way, or end the task.'

/** For a step that a person can approve. */
export const askMessage = 'This step needs the approval of a person. Wait for the approval, or go on without this step.'

/** For a step that a person was asked about and did not approve. */
export const rejectedMessage = 'A person has rejected this step. Do not ask for it again; go on without it.'

/** For a violation that blocks nothing. */
export const noticeMessage = 'This step may go on. It is noted for the people who oversee this agent.'

/** The sentence of a stored violation, from the parts of it that are stored. */
export function messageOfViolation(violation: StoredParts): string {
  const { severity, mode, waived, asks = false, violation_details } = violation
  if (severity !== 'critical' || mode !== 'enforce' || waived) return noticeMessage
  return asks ? askMessage : messageOf(violation_details.code)
}

type StoredParts = Pick<StepViolation, 'severity' | 'mode' | 'waived' | 'violation_details'> & {
  readonly asks?: boolean
}

/** The sentence of a violation with that code. */
export function messageOf(code: string): string {
  return Object.hasOwn(messages, code) ? (messages[code] ?? ofOtherCodes) : ofOtherCodes
}

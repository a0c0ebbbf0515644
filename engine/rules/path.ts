// Rules about the path a task took to this step (engine.md §3, 4–13).

import type { EvidenceStep } from '@svc/schemas'
import { evidenceOfRecorded } from '../policy/history.js'
import { gatePassed, type JsonMap, type Step } from '../steps.js'
import { compilePattern, filterSchema, type StepPattern } from './filter.js'
import { AmbiguousField, compileStepField } from './lookup.js'
import type { Recorded } from './rule.js'
import { type CompileEnvironment, defineRule, evidenceOf, PASS, type Scope, type Slot } from './rule.js'

const scopes: readonly Scope[] = ['step_execution']
const step_type = { type: 'string', minLength: 1, description: 'a step type, such as `step.resource`' }
const verb = { type: 'string', enum: ['GET', 'POST', 'PATCH', 'DELETE'] }

export const pathRules = [
  defineRule<{ gate_check_type?: string; max_age_steps?: number; max_age_seconds?: number }>({
    name: 'step_requires_gate',
    category: 'path',
    scopes,
    targets: true,
    params: {
      type: 'object',
      additionalProperties: false,
      properties: {
        gate_check_type: { type: 'string', minLength: 1, description: 'only gates with this `guard.check_type`' },
        max_age_steps: { type: 'integer', minimum: 1, description: 'directly before = 1, inclusive' },
        max_age_seconds: { type: 'number', minimum: 0, description: 'inclusive' },
      },
    },
    doc: 'Passes when the latest gate (of the given check type) passed and is fresh enough.',
    example: { gate_check_type: 'human_approval', max_age_steps: 3 },
    compile: (params, environment) => {
      const latest = trackLatestGate(environment, params.gate_check_type)
      const remedy = gateRemedy(params)
      return ({ step, history, now }) => {
        const gate = latest(history)
        const violation = (code: string, message: string) => ({
          code,
          message,
          evidence: [...(gate === null ? [] : [gate.evidence]), ...(step === null ? [] : [evidenceOf(step)])],
          remedy,
        })
        if (gate === null) return violation('GATE_MISSING', 'no such gate was passed before this step')
        if (!gate.passed) return violation('GATE_FAILED', 'the latest gate did not pass')
        const age = history.length + 1 - gate.position
        if (params.max_age_steps !== undefined && age > params.max_age_steps) {
          return violation('GATE_STALE', `the gate is ${age} steps old, at most ${params.max_age_steps} are allowed`)
        }
        const seconds = (now - gate.at) / 1000
        if (params.max_age_seconds !== undefined && seconds > params.max_age_seconds) {
          return violation('GATE_STALE', `the gate is older than ${params.max_age_seconds} seconds`)
        }
        return PASS
      }
    },
  }),
  defineRule<{ predecessor_step_type: string; predecessor_property_filter?: JsonMap }>({
    name: 'step_not_after',
    category: 'path',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['predecessor_step_type'],
      additionalProperties: false,
      properties: { predecessor_step_type: step_type, predecessor_property_filter: filterSchema },
    },
    doc: 'Passes when no such step is in the history.',
    example: { predecessor_step_type: 'task.error' },
    compile: (params, environment) => {
      const pattern = { step_type: params.predecessor_step_type, filter: params.predecessor_property_filter }
      const first = trackFirst(environment, { ...pattern, when_ambiguous: true }, 'predecessor_property_filter')
      const message = `a \`${params.predecessor_step_type}\` step came earlier in this task`
      return ({ step, history }) => {
        const earlier = first(history)
        if (earlier === null) return PASS
        const evidence = [earlier, ...(step === null ? [] : [evidenceOf(step)])]
        return { code: 'FORBIDDEN_PREDECESSOR', message, evidence, remedy: 'do this in a new task' }
      }
    },
  }),
  defineRule<{ step_type: string; verb?: string; property_filter?: JsonMap }>({
    name: 'history_contains',
    category: 'path',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['step_type'],
      additionalProperties: false,
      properties: { step_type, verb, property_filter: filterSchema },
    },
    doc: 'Passes when such a step is in the history; a gate counts only when it passed.',
    example: { step_type: 'step.message', verb: 'GET', property_filter: { 'counterpart.kind': 'user' } },
    compile: (params, environment) => {
      const pattern = { step_type: params.step_type, verb: params.verb, filter: params.property_filter }
      const first = trackFirst(environment, { ...pattern, when_ambiguous: false }, 'property_filter', true)
      const wanted = describe(params)
      return ({ step, history }) => {
        if (first(history) !== null) return PASS
        const evidence = step === null ? [] : [evidenceOf(step)]
        return {
          code: 'NOT_IN_HISTORY',
          message: `no ${wanted} came earlier in this task`,
          evidence,
          remedy: `do ${wanted} first`,
        }
      }
    },
  }),
  defineRule<{ taint_step_type: string; taint_verb?: string; taint_property_filter?: JsonMap }>({
    name: 'tainted_path_block',
    category: 'path',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['taint_step_type'],
      additionalProperties: false,
      properties: { taint_step_type: step_type, taint_verb: verb, taint_property_filter: filterSchema },
    },
    doc: 'Passes when no tainting step is in the history; nothing clears a taint within a task.',
    example: {
      taint_step_type: 'step.resource',
      taint_verb: 'GET',
      taint_property_filter: { 'target.trust': 'external' },
      target_step_types: ['step.credential'],
    },
    compile: (params, environment) => {
      const pattern = {
        step_type: params.taint_step_type,
        verb: params.taint_verb,
        filter: params.taint_property_filter,
      }
      const first = trackFirst(environment, { ...pattern, when_ambiguous: true }, 'taint_property_filter')
      return ({ step, history }) => {
        const taint = first(history)
        if (taint === null) return PASS
        return {
          code: 'TAINTED',
          message: 'an earlier step of this task brought in content that this step must not follow',
          evidence: [taint, ...(step === null ? [] : [evidenceOf(step)])],
          remedy: 'do this in a new task that has not taken the content in',
        }
      }
    },
  }),
]

interface GateMark {
  readonly passed: boolean
  readonly position: number
  readonly at: number
  readonly evidence: EvidenceStep
}

/** The latest gate, of one check type when given. A gate whose fields are ambiguous counts, and has not passed. */
function trackLatestGate(environment: CompileEnvironment, check_type: string | undefined): Slot<GateMark | null> {
  const isGate = compilePattern(
    {
      step_type: 'step.gate',
      filter: check_type === undefined ? undefined : { 'guard.check_type': check_type },
      when_ambiguous: true,
    },
    'gate_check_type',
  )
  return environment.track<GateMark | null>({
    key: `latest gate ${JSON.stringify(check_type ?? null)}`,
    init: () => null,
    add: (state, recorded) => {
      if (!isGate(recorded.step)) return state
      const { position, at } = recorded
      return { passed: hasPassed(recorded.step), position, at, evidence: evidenceOfRecorded(recorded) }
    },
  })
}

const guardResult = compileStepField('guard.result', 'field')
const checkType = compileStepField('guard.check_type', 'field')
const outputStatus = compileStepField('output.status', 'field')

/** Whether a gate passed; one that says two things at once has not. */
function hasPassed(gate: Step): boolean {
  try {
    checkType(gate)
    return gatePassed(guardResult(gate), outputStatus(gate))
  } catch (error) {
    if (error instanceof AmbiguousField) return false
    throw error
  }
}

/** The first step of a kind; `satisfying` leaves out gates that did not pass. */
function trackFirst(
  environment: CompileEnvironment,
  pattern: StepPattern,
  parameter: string,
  satisfying = false,
): Slot<EvidenceStep | null> {
  const matches = compilePattern(pattern, parameter)
  const counts = (recorded: Recorded) =>
    matches(recorded.step) && !(satisfying && recorded.type === 'step.gate' && !hasPassed(recorded.step))
  return environment.track<EvidenceStep | null>({
    key: `first ${satisfying} ${JSON.stringify([pattern.step_type, pattern.verb, pattern.filter, pattern.when_ambiguous])}`,
    init: () => null,
    add: (state, recorded) => state ?? (counts(recorded) ? evidenceOfRecorded(recorded) : null),
  })
}

function gateRemedy(params: { gate_check_type?: string; max_age_steps?: number; max_age_seconds?: number }): string {
  const which = params.gate_check_type === undefined ? '' : ` with check_type \`${params.gate_check_type}\``
  const where =
    params.max_age_steps === undefined
      ? 'before'
      : params.max_age_steps === 1
        ? 'right before'
        : `at most ${params.max_age_steps} steps before`
  const when = params.max_age_seconds === undefined ? '' : ` and at most ${params.max_age_seconds} seconds old`
  return `a passed step.gate${which} ${where} this step${when}`
}

function describe(params: { step_type: string; verb?: string; property_filter?: JsonMap }): string {
  const fields = Object.keys(params.property_filter ?? {})
  const which = fields.length === 0 ? '' : ` with the wanted ${fields.map((path) => `\`${path}\``).join(', ')}`
  return `\`${params.step_type}\`${params.verb === undefined ? '' : ` ${params.verb}`} step${which}`
}

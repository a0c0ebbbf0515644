// Rules about approvals and checks (docs/design/engine.md §3, 8 and gate_binds_action). The agent itself reports its gates.

import type { EvidenceStep, Step } from '@svc/schemas'
import { fieldPaths, type MembersOf } from './form/params.js'
import {
  type CompileEnvironment,
  defineStepRule,
  evidenceOfRecorded,
  PASS,
  present,
  type Recorded,
  type Slot,
  type StepContext,
  stepViolation,
} from './form/rule.js'
import { byDefault } from './form/stricter.js'
import {
  type BoundGates,
  compileBoundGates,
  failedGate,
  gatePattern,
  gateWords,
  missingGate,
  oldGate,
  type Problem,
  readActionBinding,
} from './gates/bound-gate.js'
import { checkType, digestOfGate, gateProblem } from './gates/gate-words.js'
import { isBoundGate, passedGate } from './history/track.js'
import { AmbiguousField } from './values/members.js'

const properties = {
  gate_check_type: {
    type: 'string',
    minLength: 1,
    'x-editor': 'check_type',
    description: 'only gates with this `guard.check_type`; default every gate',
  },
  max_age_steps: {
    type: 'integer',
    minimum: 1,
    description: 'age of the gate in steps: directly before is 1, inclusive; default no limit',
  },
  max_age_seconds: {
    type: 'number',
    minimum: 0,
    description: 'age of the gate in seconds, inclusive; default no limit',
  },
} as const
const { max_age_steps: _, ...withoutSteps } = properties

type GateParams = MembersOf<typeof properties>

export const gateRules = [
  defineStepRule({
    name: 'step_requires_gate',
    category: 'path',
    scopes: ['step_execution'],
    targets: true,
    closedWithoutHistory: true,
    alwaysAnswers: true,
    params: { type: 'object', additionalProperties: false, properties },
    stricter: { gate_check_type: 'none', max_age_steps: 'lower', max_age_seconds: 'lower' },
    doc: 'Passes when the latest gate (of the given check type) passed and is fresh enough. A gate with the digest of an action counts for this action only.',
    example: { gate_check_type: 'human_approval', max_age_steps: 3 },
    compile: (params, environment) => {
      const latest = trackLatestGate(environment, params.gate_check_type)
      const remedy = `${wantedGate(params)} ${whereAndWhen(params)}`
      const anyGate = trackLatestGate(environment, undefined)
      const bindingOf = readActionBinding(environment)
      const check = (context: StepContext) => {
        const gate = gateFor(context, latest(context.history), bindingOf)
        const problem = staleness(gate, params, context)
        if (problem === null) return PASS
        const other = gate === null ? gateFor(context, anyGate(context.history), bindingOf) : null
        const message = other === null ? problem.message : `${problem.message}; ${ofAnotherKind(other)}`
        const seen = (gate ?? other)?.evidence ?? null
        const violation = stepViolation(context, problem.code, message, remedy, seen)
        return { ...violation, remedy_steps: [passedGate(params.gate_check_type)] }
      }
      const because = ({ history }: StepContext) => ({
        evidence: present(latest(history).plain?.evidence ?? null),
        fact: `${wantedGate(params)} came before this step`,
        undo: 'do this without the gate before it, in a new task',
      })
      return Object.assign(check, { because })
    },
  }),
  defineStepRule({
    name: 'gate_binds_action',
    category: 'path',
    scopes: ['step_execution'],
    targets: true,
    closedWithoutHistory: true,
    alwaysAnswers: true,
    params: {
      type: 'object',
      additionalProperties: false,
      properties: {
        ...withoutSteps,
        binds: {
          ...fieldPaths,
          description: 'the fields that are approved, such as [step_name, input.recipient]; default the whole action',
        },
        uses: {
          type: 'integer',
          minimum: 1,
          description: 'steps that a gate allows; default one, and any number that read with `binds`',
        },
      },
    },
    stricter: {
      gate_check_type: 'none',
      max_age_seconds: 'lower',
      binds: 'none',
      uses: { stricter: 'lower', absent: ({ binds }) => (binds === undefined ? byDefault(1) : 'other') },
    },
    doc: 'Passes when a gate passed and has the digest of this step: of the whole action, or of the fields in `binds`. A gate allows one step, or `uses` steps; with `binds` it allows any number that read.',
    example: { gate_check_type: 'human_approval', target_step_names: ['refund'] },
    compile: (params, environment) => {
      const { gate_check_type, binds, max_age_seconds, uses } = params
      const binding = { check_type: gate_check_type, binds, max_age_seconds, uses }
      const gates = compileBoundGates(environment, binding, 'binds')
      return (context) => {
        const bound = gates.bindingOf(context)
        if (bound === null) return stepViolation(context, 'GATE_NOT_BOUND', noDigest, 'write each field once')
        const { gate, problem } = gates.find(context, bound)
        if (problem === null) return PASS
        const remedy = `${wantedGate(params)} with \`input.action_digest\` \`${bound.digest}\` ${whereAndWhen(params)}`
        const violation = stepViolation(context, problem.code, problem.message, remedy, gate)
        return { ...violation, remedy_steps: [passedGate(gate_check_type, bound.digest)] }
      }
    },
  }),
]

const noDigest = 'the step has no digest that a gate can carry'

interface GateMark {
  /** The reason why it has not passed; null when it has. */
  readonly problem: string | null
  /** Its position without the gates for single actions after it. */
  readonly position: number
  readonly order: number
  /** ms since 1970 */
  readonly at: number
  readonly check_type: unknown
  readonly evidence: EvidenceStep
}

/** The latest gate for any action, and the latest one for a single action. */
interface LatestGates {
  readonly plain: GateMark | null
  readonly bound: (GateMark & { readonly digest: string }) | null
}

/** The latest gates, of one check type when given. A gate with ambiguous fields counts and has not passed. */
function trackLatestGate(environment: CompileEnvironment, check_type: string | undefined): Slot<LatestGates> {
  const isGate = gatePattern(check_type)
  return environment.track<LatestGates>({
    key: `latest gate ${JSON.stringify(check_type ?? null)}`,
    init: () => ({ plain: null, bound: null }),
    add: (state, recorded) => {
      const { plain, bound } = state
      if (isBoundGate(recorded)) {
        // A gate for one action does not come between another gate and its target.
        const later = (mark: GateMark | null) => mark && { ...mark, position: mark.position + 1 }
        const digest = digestOfGate(recorded.step) ?? ''
        return { plain: later(plain), bound: isGate(recorded.step) ? { ...markOf(recorded), digest } : bound }
      }
      return isGate(recorded.step) ? { plain: markOf(recorded), bound } : state
    },
    end: () => ({ plain: null, bound: null }),
  })
}

function markOf(recorded: Recorded): GateMark {
  const { step, position, at } = recorded
  return {
    problem: gateProblem(step),
    position,
    order: position,
    at,
    check_type: checkTypeIn(step),
    evidence: evidenceOfRecorded(recorded),
  }
}

/** The latest gate that is for any action or for this very one. */
function gateFor(
  context: StepContext,
  { plain, bound }: LatestGates,
  bindingOf: BoundGates['bindingOf'],
): GateMark | null {
  if (bound === null || (plain !== null && plain.order > bound.order)) return plain
  return bound.digest === bindingOf(context)?.digest ? bound : plain
}

/** Null where the field is missing or ambiguous. */
function checkTypeIn(gate: Step): unknown {
  try {
    return checkType(gate)
  } catch (error) {
    if (error instanceof AmbiguousField) return null
    throw error
  }
}

/** Names a gate that has another check type. */
function ofAnotherKind({ check_type, evidence }: GateMark): string {
  const kind =
    typeof check_type === 'string' && check_type.length <= 40
      ? `check_type \`${check_type}\``
      : 'another check_type or none'
  return `the gate at step ${evidence.step} has ${kind}`
}

function staleness(
  gate: GateMark | null,
  { gate_check_type, max_age_steps, max_age_seconds }: GateParams,
  { history, now }: { readonly history: { readonly length: number }; readonly now: number },
): Problem | null {
  if (gate === null) return missingGate(gate_check_type)
  if (gate.problem !== null) return failedGate(gate.problem)
  const age = history.length + 1 - gate.position
  if (max_age_steps !== undefined && age > max_age_steps)
    return {
      code: 'GATE_STALE',
      message: `the gate at step ${gate.evidence.step} is ${age} steps old, at most ${max_age_steps} are allowed`,
    }
  if (max_age_seconds !== undefined && (now - gate.at) / 1000 > max_age_seconds)
    return oldGate(gate.evidence, max_age_seconds)
  return null
}

function wantedGate({ gate_check_type }: GateParams): string {
  return `a passed ${gateWords(gate_check_type)}`
}

function whereAndWhen({ max_age_steps, max_age_seconds }: GateParams): string {
  const steps = max_age_steps === 1 ? 'right ' : max_age_steps === undefined ? '' : `at most ${max_age_steps} steps `
  const when =
    max_age_seconds === undefined
      ? ''
      : ` and at most ${max_age_seconds} ${max_age_seconds === 1 ? 'second' : 'seconds'} old`
  return `${steps}before this step${when}`
}

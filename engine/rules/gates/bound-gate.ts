// Approvals that are bound to an action by its digest (docs/design/engine.md §3, gate_binds_action, and §5, approvals).
import { actionDigest, fieldsDigest } from '@svc/proof'
import { type EvidenceStep, hasWritePermission, type JsonMap, type Step } from '@svc/schemas'
import {
  type CompileEnvironment,
  evidenceOfRecorded,
  type Reading,
  type Recorded,
  type RuleContext,
  type Slot,
} from '../form/rule.js'
import { compilePattern } from '../selection/filter.js'
import { compileStepField } from '../selection/lookup.js'
import { AmbiguousField } from '../values/members.js'
import { digestOfGate, gateProblem, isRejection } from './gate-words.js'

/** The requirements on an approval. */
export interface Binding {
  readonly check_type?: string | undefined
  /** The fields that it approves besides the step type; undefined: the whole action. */
  readonly binds?: readonly string[] | undefined
  readonly max_age_seconds?: number | undefined
  /** The number of steps that it allows; undefined: one, and any number of readings with `binds`. */
  readonly uses?: number | undefined
}

export interface BoundGates {
  /** The binding that the gate of this step must carry; null for a step without a digest, which no gate can approve. */
  readonly bindingOf: Reading<StepBinding | null>
  /** The gate that allows the step, or why none does. */
  readonly find: (context: RuleContext, binding: StepBinding) => GateFound
  /** True if the task has a gate with a digest; cheaper than a digest of the step. */
  readonly areKnown: (context: RuleContext) => boolean
}

export interface StepBinding {
  readonly digest: string
  /** The fields in the digest; null for the whole action. */
  readonly binds: readonly string[] | null
}

export type GateFound = { readonly gate: EvidenceStep; readonly problem: null } | GateProblem

/** The reason why a gate does not allow a step. */
export interface Problem {
  readonly code: string
  readonly message: string
}

export interface GateProblem {
  readonly problem: Problem
  /** The gate that it is about; null without one. */
  readonly gate: EvidenceStep | null
  /** True if a person said no to this very step. */
  readonly rejected: boolean
}

type BindingOf = (step: Step) => StepBinding | null

interface Approval {
  /** The reason why the gate has not passed; null when it has. */
  readonly problem: string | null
  readonly rejected: boolean
  /** ms since 1970 */
  readonly at: number
  readonly evidence: EvidenceStep
  used: number
}

interface Approvals {
  /** By digest; the oldest is first. */
  readonly by_digest: Map<string, Approval>
  /** The latest gate of the check type, with or without a digest. */
  latest: Approval | null
}

/** Approvals kept for one task; the oldest is forgotten first, and has to be given again. */
const maxApprovals = 10_000

/** Throws ParameterError for a path that is not a field of a step; `parameter` names the list of paths. */
export function compileBoundGates(environment: CompileEnvironment, binding: Binding, parameter: string): BoundGates {
  const bindingOf = compileBinding(binding.binds, parameter)
  const approvals = trackApprovals(environment, binding, bindingOf)
  const allowed = ({ binds }: StepBinding, step: Step | null) =>
    binding.uses ?? (binds !== null && step !== null && isReading(step) ? Number.POSITIVE_INFINITY : 1)
  return {
    bindingOf: readBinding(environment, binding.binds, bindingOf),
    find: ({ history, now, step }, wanted) => {
      const { by_digest, latest } = approvals(history)
      const approval = by_digest.get(wanted.digest)
      if (approval === undefined) return notBound(latest, binding)
      const fault = (problem: Problem) => ({ problem, gate: approval.evidence, rejected: approval.rejected })
      if (approval.problem !== null) return fault(failedGate(approval.problem))
      const { max_age_seconds } = binding
      if (max_age_seconds !== undefined && (now - approval.at) / 1000 > max_age_seconds)
        return fault(oldGate(approval.evidence, max_age_seconds))
      const most = allowed(wanted, step)
      if (approval.used >= most) return fault({ code: 'GATE_SPENT', message: spent(most) })
      return { gate: approval.evidence, problem: null }
    },
    areKnown: ({ history }) => approvals(history).by_digest.size > 0,
  }
}

/** Reading again changes nothing; any other step, also one without a verb, does what the person allowed once. */
function isReading(step: Step): boolean {
  return step.verb === 'GET' && !hasWritePermission(step)
}

function spent(allowed: number): string {
  return allowed === 1
    ? 'the action that the gate approved is already done'
    : `the gate approved ${allowed} steps, which are already done`
}

export function missingGate(check_type: string | undefined): Problem {
  return { code: 'GATE_MISSING', message: `no ${gateWords(check_type)} came before this step` }
}

export function failedGate(problem: string): Problem {
  return { code: 'GATE_FAILED', message: `the latest gate has not passed: ${problem}` }
}

export function oldGate({ step }: EvidenceStep, max_age_seconds: number): Problem {
  return { code: 'GATE_STALE', message: `the gate at step ${step} is older than ${max_age_seconds} seconds` }
}

function notBound(latest: Approval | null, { check_type }: Binding): GateProblem {
  if (latest === null) return { problem: missingGate(check_type), gate: null, rejected: false }
  const { problem, evidence: gate } = latest
  if (problem !== null) return { problem: failedGate(problem), gate, rejected: false }
  return { problem: { code: 'GATE_NOT_BOUND', message: 'no gate approved this action' }, gate, rejected: false }
}

/** A gate of a check type in words. */
export function gateWords(check_type: string | undefined): string {
  return `step.gate${check_type === undefined ? '' : ` with \`properties.guard.check_type\` \`${check_type}\``}`
}

/** The binding that a gate for the whole of a step must carry, read once for all rules. */
export function readActionBinding(environment: CompileEnvironment): BoundGates['bindingOf'] {
  return readBinding(environment, undefined, compileBinding(undefined, ''))
}

/**
 * The members of the step that the digest of `binds` leaves out, as paths: they can change after the person has approved. Empty
 * for the whole action.
 */
export function unboundFields({ verb, step_name, input = {} }: Step, binds: readonly string[] | null): string[] {
  if (binds === null) return []
  const heads = Object.entries({ verb, step_name }).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const isBound = (path: string) => binds.some((one) => one === path || path.startsWith(`${one}.`))
  const inside = (value: unknown, path: string): string[] => {
    if (isBound(path)) return []
    if (typeof value !== 'object' || value === null || !binds.some((one) => one.startsWith(`${path}.`))) return [path]
    return Object.entries(value as JsonMap).flatMap(([name, member]) => inside(member, `${path}.${name}`))
  }
  return [...heads.filter((name) => !isBound(name)), ...(isBound('input') ? [] : membersOf(input, inside))].slice(
    0,
    maxUnbound,
  )
}

function membersOf(input: JsonMap, inside: (value: unknown, path: string) => string[]): string[] {
  return Object.entries(input).flatMap(([name, value]) => inside(value, `input.${name}`))
}

/** More than a person reads. */
const maxUnbound = 100

function readBinding(
  environment: CompileEnvironment,
  binds: readonly string[] | undefined,
  bindingOf: BindingOf,
): BoundGates['bindingOf'] {
  const key = `binding ${JSON.stringify(binds ?? null)}`
  return environment.readings.once(key, ({ step }) => (step === null ? null : bindingOf(step)))
}

/** A field that the step lacks would approve every value of it, so such a step is bound as a whole. */
function compileBinding(binds: readonly string[] | undefined, parameter: string): BindingOf {
  const fields = binds?.map((path, index) => ({ path, get: compileStepField(path, `${parameter}.${index}`) }))
  return (step) => {
    try {
      const values = fields?.map(({ path, get }) => [path, get(step)] as const)
      if (binds === undefined || values === undefined || values.some(([, value]) => value === null))
        return { digest: actionDigest(step), binds: null }
      return { digest: fieldsDigest(step.step_type, Object.fromEntries(values)), binds }
    } catch (error) {
      // A step without a canonical form, or with an ambiguous field.
      if (error instanceof TypeError || error instanceof AmbiguousField) return null
      throw error
    }
  }
}

function trackApprovals(
  environment: CompileEnvironment,
  { check_type, binds }: Binding,
  bindingOf: BindingOf,
): Slot<Approvals> {
  const isGate = gatePattern(check_type)
  return environment.track<Approvals>({
    key: `approvals ${JSON.stringify([check_type ?? null, binds ?? null])}`,
    init: () => ({ by_digest: new Map(), latest: null }),
    add: (state, recorded) => {
      if (isGate(recorded.step)) addGate(state, recorded)
      // Hashing a step pays only while an approval is known.
      else if (state.by_digest.size > 0 && recorded.type !== 'step.gate') countUse(state, bindingOf(recorded.step))
      return state
    },
    end: () => ({ by_digest: new Map(), latest: null }),
    copy: ({ by_digest, latest }) => ({
      by_digest: new Map([...by_digest].map(([digest, approval]) => [digest, { ...approval }])),
      latest,
    }),
  })
}

/** A rejection without a digest withdraws every approval of its check type. */
function addGate(state: Approvals, recorded: Recorded): void {
  const digest = digestOfGate(recorded.step)
  const problem = gateProblem(recorded.step)
  const rejected = problem !== null && isRejection(recorded.step)
  state.latest = { problem, rejected, at: recorded.at, evidence: evidenceOfRecorded(recorded), used: 0 }
  if (digest === null) {
    if (problem !== null) state.by_digest.clear()
    return
  }
  state.by_digest.delete(digest)
  state.by_digest.set(digest, state.latest)
  const [oldest] = state.by_digest.keys()
  if (state.by_digest.size > maxApprovals && oldest !== undefined) state.by_digest.delete(oldest)
}

function countUse({ by_digest }: Approvals, binding: StepBinding | null): void {
  const approval = binding === null ? undefined : by_digest.get(binding.digest)
  if (approval !== undefined) approval.used++
}

/** A gate of one check type, when given. A gate with ambiguous fields counts, and has not passed. */
export function gatePattern(check_type: string | undefined): (step: Step) => boolean {
  const filter = check_type === undefined ? undefined : { 'guard.check_type': check_type }
  return compilePattern({ step_types: ['step.gate'], filter }, true, 'gate_check_type')
}

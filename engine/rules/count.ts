// Rules that count (engine.md §3, 14–17).
import type { EvidenceStep } from '@svc/schemas'
import { evidenceOfRecorded } from '../policy/history.js'
import { canonicalType } from '../steps.js'
import { defineRule, evidenceOf, NOT_APPLICABLE, PASS, type Scope } from './rule.js'

const scopes: readonly Scope[] = ['step_execution']
const step_type = { type: 'string', minLength: 1, description: 'the step type that is counted' }

export const countRules = [
  defineRule<{ step_type: string; max_steps: number }>({
    name: 'execution_max_steps',
    category: 'count',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['step_type', 'max_steps'],
      additionalProperties: false,
      properties: { step_type, max_steps: { type: 'integer', minimum: 0 } },
    },
    doc: 'Passes when the history holds fewer than `max_steps` of the type. A step of another type is not applicable.',
    example: { step_type: 'step.model', max_steps: 200 },
    compile: (params, environment) => {
      const type = canonicalType(params.step_type)
      const count = environment.track<number>({
        key: `count ${type}`,
        init: () => 0,
        add: (state, recorded) => (recorded.type === type ? state + 1 : state),
      })
      const message = `the task already has ${params.max_steps} \`${params.step_type}\` steps, the most that are allowed`
      return ({ step, history }) => {
        if (step === null || canonicalType(step.step_type) !== type) return NOT_APPLICABLE
        if (count(history) < params.max_steps) return PASS
        return {
          code: 'TOO_MANY_STEPS',
          message,
          evidence: [evidenceOf(step)],
          remedy: 'end this task; a new one counts from zero',
        }
      }
    },
  }),
  defineRule<{ step_type: string; max_steps: number; window_seconds: number }>({
    name: 'step_rate_limit',
    category: 'count',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['step_type', 'max_steps', 'window_seconds'],
      additionalProperties: false,
      properties: {
        step_type,
        max_steps: { type: 'integer', minimum: 1, maximum: 100_000 },
        window_seconds: { type: 'number', exclusiveMinimum: 0 },
      },
    },
    doc: 'Passes when fewer than `max_steps` of the type lie in (now − window, now]. Another type is not applicable.',
    example: { step_type: 'step.resource', max_steps: 60, window_seconds: 60 },
    compile: (params, environment) => {
      const type = canonicalType(params.step_type)
      const recent = environment.track<RecentSteps>({
        key: `recent ${type} ${params.max_steps}`,
        init: () => ({ ring: [], next: 0 }),
        add: (state, recorded) => {
          if (recorded.type !== type) return state
          state.ring[state.next] = { at: recorded.at, evidence: evidenceOfRecorded(recorded) }
          state.next = (state.next + 1) % params.max_steps
          return state
        },
      })
      const window = params.window_seconds * 1000
      return ({ step, history, now }) => {
        if (step === null || canonicalType(step.step_type) !== type) return NOT_APPLICABLE
        const { ring, next } = recent(history)
        // Times never decrease within a task, so the oldest of the last max_steps decides alone.
        const oldest = ring.length < params.max_steps ? undefined : ring[next]
        if (oldest === undefined || oldest.at <= now - window) return PASS
        const seconds = Math.max(1, Math.ceil((oldest.at + window - now) / 1000))
        return {
          code: 'TOO_FAST',
          message: `${params.max_steps} \`${params.step_type}\` steps within ${params.window_seconds} seconds`,
          evidence: [oldest.evidence, evidenceOf(step)],
          remedy: `wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`,
        }
      }
    },
  }),
]

/** The last `max_steps` steps of a type; `next` is where the oldest stands once the ring is full. */
interface RecentSteps {
  readonly ring: { at: number; evidence: EvidenceStep }[]
  next: number
}

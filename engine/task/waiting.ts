// Decisions of a task whose steps are not recorded yet, and allowed steps that count as history until then.
import type { Step } from '@svc/schemas'
import { copyHistory, type HistoryPlan, record } from '../policy/history.js'
import type { History } from '../rules/form/rule.js'

/** A decision that waits for its step. */
export interface Awaited {
  readonly evaluation_id: string
  readonly action_digest: string | null
  readonly blocked: boolean
}

interface Reserved {
  readonly step: Step
  /** The time when it was reserved, ms since 1970. */
  readonly at: number
}

/** Decisions kept per task. */
const maxAwaited = 32
/** docs/design/engine.md §5. */
export const reservationMs = 60_000

export class Waiting<D extends Awaited> {
  /** By evaluation, the oldest first. */
  readonly #decisions = new Map<string, D>()
  readonly #reserved = new Map<string, Reserved>()

  get size(): number {
    return this.#decisions.size
  }

  /** Keeps a decision until its step is recorded. */
  add(decision: D): void {
    this.#decisions.set(decision.evaluation_id, decision)
    const [oldest] = this.#decisions.keys()
    if (this.#decisions.size > maxAwaited && oldest !== undefined) this.#decisions.delete(oldest)
  }

  /** The decision on a recorded step: by the id that it names, else the latest with the same action. Taken once. */
  take(evaluation_id: unknown, action_digest: string): D | null {
    const named = typeof evaluation_id === 'string' ? this.#decisions.get(evaluation_id) : undefined
    // An agent that was blocked, passed a gate and evaluated again acts on the latest decision.
    const same = [...this.#decisions.values()].filter((decision) => decision.action_digest === action_digest)
    const found = named ?? same.at(-1)
    if (found === undefined) return null
    this.#decisions.delete(found.evaluation_id)
    this.#reserved.delete(found.evaluation_id)
    return found
  }

  /** A step that was allowed before an end is evaluated again when it is recorded. */
  voidAllowed(): void {
    for (const [evaluation_id, { blocked }] of this.#decisions) if (!blocked) this.#decisions.delete(evaluation_id)
  }

  /** Counts an allowed step as history, so that parallel steps cannot pass one limit together. */
  reserve(evaluation_id: string, step: Step, at: number): void {
    this.#reserved.set(evaluation_id, { step, at })
  }

  /** True while a reservation of this evaluation is in force. */
  holds(evaluation_id: string, now: number): boolean {
    const reserved = this.#reserved.get(evaluation_id)
    return reserved !== undefined && now - reserved.at < reservationMs
  }

  /** Ends a reservation; false for an unknown one. */
  release(evaluation_id: string): boolean {
    return this.#reserved.delete(evaluation_id)
  }

  /** Ends all reservations, and returns their evaluations. */
  releaseAll(): readonly string[] {
    const released = [...this.#reserved.keys()]
    this.#reserved.clear()
    return released
  }

  /** The history with the reserved steps; null without any. */
  expected(plan: HistoryPlan, history: History, now: number): History | null {
    for (const [id, { at }] of this.#reserved) if (now - at >= reservationMs) this.#reserved.delete(id)
    if (this.#reserved.size === 0) return null
    const expected = copyHistory(plan, history)
    for (const { step, at } of this.#reserved.values()) record(plan, expected, step, at)
    return expected
  }
}

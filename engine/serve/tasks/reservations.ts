// Allowed steps that count as history until they are recorded, so that parallel steps cannot pass one limit together.
import type { Step } from '@svc/schemas'
import type { LocalTask } from './task.js'

/** The task of each reservation, by the id of its evaluation. */
export type Reservations = Map<string, LocalTask>

/** Counts an allowed step until it is recorded, and drops expired reservations. */
export function reserveStep(
  reservations: Reservations,
  task: LocalTask,
  evaluation_id: string,
  step: Step,
  at: number,
): void {
  for (const [id, holder] of reservations) {
    if (holder.waiting.holds(id, at)) break
    holder.waiting.release(id)
    reservations.delete(id)
  }
  task.waiting.reserve(evaluation_id, step, at)
  reservations.set(evaluation_id, task)
}

/** Releases the reservation of an allowed step; false for an unknown or expired one. */
export function releaseReservation(reservations: Reservations, evaluation_id: string): boolean {
  const task = reservations.get(evaluation_id)
  reservations.delete(evaluation_id)
  return task?.waiting.release(evaluation_id) ?? false
}

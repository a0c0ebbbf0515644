// Allowed steps that count as history until they are recorded, so that parallel steps cannot pass one limit together.
import { type Reservation, reservationMs, type Task } from './task.js'

/** The task of each reservation, by the id of its evaluation. */
export type Reservations = Map<string, Task>

/** Counts an allowed step until it is recorded, and drops expired reservations. */
export function reserveStep(
  reservations: Reservations,
  task: Task,
  evaluation_id: string,
  reserved: Reservation,
): void {
  for (const [id, holder] of reservations) {
    const held = holder.reserved.get(id)
    if (held !== undefined && reserved.at - held.at < reservationMs) break
    holder.reserved.delete(id)
    reservations.delete(id)
  }
  task.reserved.set(evaluation_id, reserved)
  reservations.set(evaluation_id, task)
}

/** Releases the reservation of an allowed step; false for an unknown or expired one. */
export function releaseReservation(reservations: Reservations, evaluation_id: string): boolean {
  const task = reservations.get(evaluation_id)
  reservations.delete(evaluation_id)
  return task?.reserved.delete(evaluation_id) ?? false
}

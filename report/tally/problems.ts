// Failures of the verification, with their place in the log.
import { maxProblems } from '../content/bounds.js'
import { boundedList } from './listing.js'

export type Problem = (code: string, log_index: number | null, message: string) => void

export function createProblems() {
  const list = boundedList<{ code: string; log_index: number | null; message: string }>(maxProblems)
  const report: Problem = (code, log_index, message) => list.add({ code, log_index, message })
  return { report, listing: list.listing }
}

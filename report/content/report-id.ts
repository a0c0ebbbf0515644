// The id of a report follows from what decides its content, so that the same request finds the same report.
import { createHash } from 'node:crypto'
import { canonical } from '@svc/proof'
import type { ReportPlan } from './plan.js'

/** `rep_` and the first 32 hex digits of SHA-256 over canonical JSON. */
export function reportIdOf(
  org_id: string,
  { period, by, agent_ids, format, cut_off, root }: Omit<ReportPlan, 'id'>,
): string {
  const { from, to } = period
  const decided = { v: 'svc.report/1', org_id, from, to, ...timesOf(by), agent_ids, format, cut_off, root }
  const hash = createHash('sha256').update(canonical(decided)).digest('hex')
  return `rep_${hash.slice(0, 32)}`
}

/** The member that only a report by the times that senders state has: the id and the records of one by times of receipt name no times. */
export function timesOf(by: ReportPlan['by']): { readonly by?: 'occurred' } {
  return by === 'occurred' ? { by } : {}
}

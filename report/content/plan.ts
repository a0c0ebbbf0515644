// The request that decides the content of a report.
import type { Report } from '@svc/schemas'

export interface ReportPlan {
  readonly id: string
  readonly format: Report['format']
  readonly period: { readonly from: string; readonly to: string }
  /** The time by which a step counts. */
  readonly by: Report['by']
  /** Sorted; null for all agents. */
  readonly agent_ids: readonly string[] | null
  /** The size of a published checkpoint of the log, and its root (hex). */
  readonly cut_off: number
  readonly root: string
}

/** The file of a report. */
export interface MadeReport {
  readonly bytes: Uint8Array
  /** Hex. */
  readonly sha256: string
}

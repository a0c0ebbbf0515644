// The content of a report as of one cut-off (docs/design/reports.md §1). Every format is made from it and from nothing else.
// Times are RFC 3339 in UTC with milliseconds; durations are whole seconds.
import type { RejudgeReason } from '@svc/engine/parts'
import type { Effect, EffectCounts, Report } from '@svc/schemas'
import type { AgentResult } from './agent-result.js'
import type { PolicyChangeResult, WaiverResult } from './policy-history.js'
import type { Summary } from './summary-data.js'

export type { AgentResult } from './agent-result.js'
export type { PolicyChangeResult, PolicyValues, WaiverResult } from './policy-history.js'

/** The most severe first. */
export const severities = ['critical', 'high', 'medium', 'low'] as const
export type Severity = (typeof severities)[number]
export const incidentStates = ['open', 'active', 'resolved', 'ignored'] as const
export type IncidentState = (typeof incidentStates)[number]

export interface ReportData {
  readonly report: ReportHead
  readonly summary: Summary
  readonly integrity: Integrity
  readonly activity: Activity
  /** By name, then id. */
  readonly agents: BoundedRows<AgentResult>
  /** By number of violations, then name. */
  readonly policies: BoundedRows<PolicyResult>
  /** By number of uses. */
  readonly waivers: BoundedRows<WaiverResult>
  /** Oldest first. */
  readonly policy_changes: BoundedRows<PolicyChangeResult>
  readonly incidents: Incidents
  readonly oversight: Oversight
  readonly retention: Retention
}

/** A member of the content besides its head and its totals. */
export type ContentPart = Exclude<keyof ReportData, 'report' | 'summary'>

/** Rows of a table: the most important ones, and how many others there are. */
export interface BoundedRows<T> {
  readonly rows: readonly T[]
  /** Rows that are not listed. */
  readonly more: number
}

export interface ReportHead {
  /** `rep_` and 32 hex digits: SHA-256 of what decides the content. */
  readonly id: string
  readonly format: Report['format']
  readonly org_id: string
  /** The name of the workspace as of the cut-off. */
  readonly organization: string
  /** `from` inclusive, `to` exclusive. */
  readonly period: { readonly from: string; readonly to: string }
  /** The time by which a step counts: of its receipt, or when it occurred, as its sender states. All else counts by its receipt. */
  readonly by: Report['by']
  /** The agents that the report is limited to, sorted; null for all. */
  readonly agent_ids: readonly string[] | null
  /** The time of publication of the checkpoint of the cut-off: states and names are as of it. */
  readonly as_of: string
  /** The time of receipt of the first entry of the log; null in an empty log. */
  readonly log_began: string | null
  /** Of the program that made the report. */
  readonly version: string
}

export interface Integrity {
  /** `whole`: every record was read and hashed again, and the tree is the signed one. */
  readonly verdict: 'whole' | 'problems'
  /** Log indexes of the entries that the report reads: `first` inclusive, `end` exclusive. */
  readonly entries: { readonly first: number; readonly end: number }
  /** The signed size of the log that the report reads; nothing after it counts. */
  readonly cut_off: number
  readonly checkpoint: ReportCheckpoint
  /** The latest ones published in the period, oldest first. */
  readonly checkpoints: BoundedRows<{ readonly size: number; readonly root: string; readonly published_at: string }>
  /** These entries by type: `step`, `event`, `incident` and others. */
  readonly leaves: Readonly<Record<string, number>>
  /** Records that were hashed again and are as signed. */
  readonly rehashed: number
  /** Entries whose payload was erased, and whose record was deleted after its retention. */
  readonly erased: number
  readonly pruned: number
  readonly problems: BoundedRows<{ readonly code: string; readonly log_index: number | null; readonly message: string }>
  /** The steps that `svc verify --rejudge` can evaluate again from the bundle of this report, and the others by reason. */
  readonly rejudge: {
    readonly steps: number
    readonly possible: number
    readonly others: readonly { readonly reason: RejudgeReason; readonly steps: number }[]
  }
}

export interface ReportCheckpoint {
  readonly origin: string
  readonly size: number
  /** Hex. */
  readonly root: string
  /** The signed note (C2SP), without the signatures of witnesses, which come later. */
  readonly note: string
  readonly published_at: string
  readonly keys: readonly { readonly name: string; readonly fingerprint: string }[]
}

export interface Activity {
  readonly interval: 'day' | 'week' | 'month'
  /** Without gaps, in UTC; the first and the last can be cut by the period. Weeks begin on Monday. */
  readonly buckets: readonly {
    readonly from: string
    readonly steps: number
    readonly violations: number
    readonly incidents: number
  }[]
  /** Steps by type, such as `step.model`. */
  readonly step_types: Readonly<Record<string, number>>
}

/** One policy of one version of a manifest, over all agents that had it. */
export interface PolicyResult {
  readonly name: string
  readonly rule_type: string
  readonly severity: Severity
  readonly mode: 'enforce' | 'observe'
  readonly scope: string
  readonly controls: readonly string[]
  readonly manifest: {
    readonly name: string
    readonly repo: string | null
    readonly path: string | null
    /** Git's id of the file. */
    readonly sha: string | null
  } | null
  readonly agents: number
  /** Steps that were evaluated while it was in effect on their agent; 0 for a policy that evaluates registrations. */
  readonly steps: number
  /** Steps of these that it applied to: the others are outside of its target. */
  readonly applied: number
  readonly violations: number
  readonly waived: number
  /** Decisions that found it violated, and whose steps were not recorded: declared by local engines. */
  readonly unrecorded: number
  readonly incidents: number
  /** Open or active at the cut-off, whenever they were opened. */
  readonly open_incidents: number
}

export interface Incidents {
  /**
   * Of those opened in the period, or by a step of it where steps count by the time that their sender states: their numbers by
   * severity and state at the cut-off; pairs without incidents are left out.
   */
  readonly counts: readonly { readonly severity: Severity; readonly state: IncidentState; readonly count: number }[]
  /** Of those opened in the period: their numbers by their worst effect at the cut-off; one of an earlier version has none. */
  readonly effects: EffectCounts
  /** From the opening to the first review; from the opening to the first resolution. */
  readonly time_to_review: Durations
  readonly time_to_resolve: Durations
  /** Opened in the period, answered in it, or without an end at the cut-off. Most severe first, then unanswered first, then oldest. */
  readonly list: BoundedRows<IncidentResult>
}

export interface Durations {
  readonly count: number
  /** Null when none. Nearest rank. */
  readonly median_seconds: number | null
  readonly p90_seconds: number | null
}

export interface IncidentResult {
  readonly id: string
  readonly severity: Severity
  readonly state: IncidentState
  readonly mode: 'enforce' | 'observe'
  readonly policy_name: string
  readonly rule_type: string
  readonly agent_id: string
  readonly agent_name: string
  readonly task_id: string | null
  readonly step: number | null
  readonly opened_at: string
  /** The worst of its occurrences at the cut-off; null for one of an earlier version. */
  readonly effect: Effect | null
  /** The reason that the policy reported. */
  readonly reason: string
  /** Its moves, with their actors, times and notes. */
  readonly history: readonly {
    readonly at: string
    readonly by: string
    readonly from: IncidentState
    readonly to: IncidentState
    readonly note: string | null
  }[]
}

export interface Oversight {
  /** Steps for which a policy asked for an approval; oldest first. */
  readonly approvals: BoundedRows<ApprovalResult>
  /** Changes in the period; oldest first. */
  readonly changes: BoundedRows<{
    readonly at: string
    readonly kind: string
    readonly actor: string
    readonly subject: string
    readonly text: string
  }>
  /** At the cut-off. */
  readonly members: readonly { readonly role: string; readonly count: number }[]
  /** The people whose ids the lists show; one whose account has ended has no name. */
  readonly people: readonly { readonly person_id: string; readonly name: string }[]
  /** The number of events of the period by kind. */
  readonly events: Readonly<Record<string, number>>
}

export interface ApprovalResult {
  readonly at: string
  readonly agent_id: string
  readonly agent_name: string
  readonly task_id: string
  readonly step: number
  readonly policy_name: string
  /**
   * `given`: a gate approved the step before it; `missing`: the step was recorded without an approval; `blocked`: the step was
   * stopped before it ran; `erased`: its content cannot be read.
   */
  readonly outcome: 'given' | 'missing' | 'blocked' | 'erased'
  /** The step of the gate that approved it. */
  readonly approved_by_step: number | null
  /** The approver that the gate recorded. */
  readonly approver: string | null
}

export interface Retention {
  readonly days: number
  readonly holds: BoundedRows<{
    readonly id: string
    readonly task_id: string | null
    readonly reason: string
    readonly placed_by: string
    readonly placed_at: string
    readonly released_at: string | null
  }>
  /** Recorded in the period. */
  readonly erasures: BoundedRows<{
    readonly id: string
    readonly at: string
    readonly by: string
    readonly entries: number
    readonly tasks: number
    readonly legal_basis: string
  }>
  readonly prunes: BoundedRows<{
    readonly id: string
    readonly at: string
    readonly by: string
    readonly before: string
    readonly entries: number
    readonly legal_basis: string
  }>
}

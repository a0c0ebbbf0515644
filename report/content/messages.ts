// The messages to the thread of a report, and its answers. Texts hold one row a line: they cost their sender little.
import type { Receipts } from '@svc/proof'
import type { ReadGovernance } from '../governance/agent-governance.js'
import type { MadeReport } from './plan.js'
import type { AgentResult, ReportCheckpoint, ReportData, ReportHead, Severity } from './report-data.js'

/** Given once. */
export interface ReportWork {
  readonly head: Omit<ReportHead, 'organization'>
  readonly scope: Cut
  /** The times of receipt of the entries of the scope. */
  readonly receipts: Receipts
  readonly checkpoint: ReportCheckpoint
  /** True if a key of the log signed the checkpoint. */
  readonly is_signed: boolean
  /** Hex hashes of the full subtrees before the period and after it, up to the cut-off; null where one is missing. */
  readonly left: readonly (string | null)[]
  readonly right: readonly (string | null)[]
  /** Tasks of the chosen agents that were erased or held; null when all agents are chosen. */
  readonly own_tasks: readonly string[] | null
}

/** The places in the log that decide the content. */
export interface Cut {
  readonly first: number
  readonly end: number
  readonly cut_off: number
}

/** Leaves from `from` to before `to`. */
export interface EntriesPage {
  readonly from: number
  readonly to: number
  /** `log_index`, type and leaf hash, by tabs. */
  readonly leaves: string | null
  /** `log_index` and record of each step, by a tab. */
  readonly steps: string | null
  /** The log indexes of steps with a payload and of those that read memory, by spaces. */
  readonly kept: string | null
  readonly memory: string | null
  /** The log indexes of steps with the decision of a local engine, and of those that an engine took itself, by spaces. */
  readonly decided: string | null
  /** JSON of `LeafRow`: leaves that are not steps. */
  readonly records: string | null
  /** JSON of `ViolationRow`. */
  readonly violations: string | null
  /** JSON of `EvaluatedRow`: steps that violated a policy or that gates approved. */
  readonly evaluated: string | null
  /** JSON of `AppliedRow`: the policies that applied to steps. */
  readonly applied: string | null
  /** JSON of `AskedRow`: steps that violated a critical policy, or without the approval that a policy asked for. */
  readonly asked: string | null
  /** Published sizes within the page and their roots, of the epoch of the cut-off: JSON of `[size, root]`. */
  readonly checkpoints: string | null
}

export type LeafRow = readonly [
  log_index: number,
  hash: string,
  record: string,
  salts: string | null,
  body: string | null,
]
export type ViolationRow = readonly [
  log_index: number,
  policy_id: number,
  name: string,
  severity: string,
  mode: string,
  waived: boolean,
  asks: boolean | null,
]
/** `evaluation`: canonical JSON, as its payload holds it. */
export type AppliedRow = readonly [evaluation: string, log_indexes: readonly number[]]
export type AskedRow = readonly [log_index: number, salts: string | null, body: string | null]
export type EvaluatedRow = readonly [log_index: number, salt: string | null, evaluation: string]

type AgentText = 'agent_key' | 'name' | 'purpose' | 'risk_classification' | 'environment'

/** An agent as of the cut-off. */
export type AgentFacts = Pick<AgentResult, AgentText | 'active' | 'registered_at'>

/** A state that an engine reported, as the table holds it, with its event. */
export interface EngineStateRow {
  readonly agent_id: string
  readonly log_index: number
  readonly instance_id: string
  readonly load_state: string
  readonly ended: boolean
  readonly since: string
  readonly known_from: string
  readonly known_until: string
  /** The leaf at its log index, as `LeafRow`; null when it is pruned, or is a step. */
  readonly line: string | null
  /** True if no event can be at its log index. */
  readonly is_unrecorded: boolean
}

/** An agent as the table holds it: for what the log does not hold. */
export interface AgentRow extends Pick<AgentResult, AgentText | 'agent_id' | 'active'> {
  readonly created_at: string
}

/** An incident whose leaf was erased or deleted, as the table holds it. */
export interface IncidentRow {
  readonly id: string
  readonly agent_id: string
  readonly task_id: string | null
  readonly step: number | null
  readonly policy_id: number
  readonly policy_name: string
  readonly rule_type: string
  readonly severity: Severity
  readonly scope: string
  readonly mode: 'enforce' | 'observe'
  readonly reason: string
  readonly first_seen: string
}

/** An incident from before the period, with its state at the cut-off. */
export type EarlierIncident = readonly [id: string, state: 'open' | 'active']

export interface PolicySource {
  readonly id: number
  readonly controls: readonly string[]
  readonly manifest_name: string | null
  readonly manifest_repo: string | null
  readonly manifest_path: string | null
  readonly manifest_sha: string | null
}

/** The waivers of the report: ids of their policies, and the manifests whose texts state their reasons. */
export interface WantedWaivers {
  readonly policies: readonly number[]
  readonly texts: readonly string[]
}

/** The time at which the waiver of a policy came into force, also in earlier versions of its manifest. */
export interface WaiverBegan {
  readonly policy_id: number
  readonly began_at: string
}

export interface TableFacts {
  readonly organization: string
  readonly retention_days: number
  readonly members: readonly { readonly person_id: string; readonly role: string; readonly joined_at: string }[]
  readonly people: ReportData['oversight']['people']
  readonly checkpoints: {
    readonly rows: readonly { readonly size: number; readonly root: string; readonly published_at: string }[]
    readonly more: number
  }
}

export type ReportMessage =
  | { readonly kind: 'facts'; readonly leaves: readonly string[] }
  | { readonly kind: 'tables'; readonly tables: TableFacts }
  | { readonly kind: 'agents'; readonly agents: readonly AgentRow[] }
  | { readonly kind: 'earlier'; readonly incidents: readonly EarlierIncident[] }
  | { readonly kind: 'neighbours'; readonly before: string | null; readonly after: string | null }
  | { readonly kind: 'entries'; readonly page: EntriesPage }
  | { readonly kind: 'policy_sets'; readonly bodies: readonly { readonly digest: string; readonly body: string }[] }
  | { readonly kind: 'policies'; readonly policies: readonly PolicySource[] }
  | { readonly kind: 'waivers'; readonly began: readonly WaiverBegan[] }
  | { readonly kind: 'manifest'; readonly sha: string; readonly text: string }
  | { readonly kind: 'removals'; readonly leaves: readonly string[] }
  | { readonly kind: 'tiles'; readonly tiles: readonly { readonly index: number; readonly hash: string }[] }
  | { readonly kind: 'incidents'; readonly leaves: readonly string[]; readonly rows: readonly IncidentRow[] }
  | { readonly kind: 'listed'; readonly leaves: readonly string[]; readonly rows: readonly IncidentRow[] }
  | { readonly kind: 'gates'; readonly gates: readonly GateRow[] }
  | { readonly kind: 'unfound'; readonly indexes: readonly number[] }
  | { readonly kind: 'engine_states'; readonly rows: readonly EngineStateRow[]; readonly lost: readonly number[] }
  | { readonly kind: 'governance'; readonly agents: readonly (readonly [agent_id: string, ReadGovernance])[] }
  /** Requests for what the tally of the entries, and the lists of the report, miss. */
  | { readonly kind: 'wanted' }
  | { readonly kind: 'wanted_for_lists' }
  /** Ids of people, once every leaf was given. */
  | { readonly kind: 'wanted_people' }
  | { readonly kind: 'data' }
  | { readonly kind: 'render' }

export interface GateRow {
  readonly task_id: string
  readonly step: number
  readonly log_index: number
  readonly hash: string
  readonly record: string
  /** Null once erased. */
  readonly salts: string | null
  readonly body: string | null
}

export interface Wanted {
  /** Every incident of the report: its moves after the period and before the cut-off are read. */
  readonly incidents: readonly string[]
  /** Those whose opening is not known from the entries. */
  readonly openings: readonly string[]
  readonly digests: readonly string[]
  /** True if records or payloads are missing, so that authorizations of their removal are needed. */
  readonly removals: boolean
  /** Numbers of the blocks of 256 leaves whose stored hash shows where the tree differs. */
  readonly blocks: readonly number[]
}

export interface WantedForLists {
  readonly incidents: readonly string[]
  /** Those of all incidents, also of those whose opening was erased: they are known once `openings` were read. */
  readonly policies: readonly number[]
  readonly gates: readonly { readonly task_id: string; readonly step: number }[]
  readonly agents: readonly string[]
  readonly waivers: WantedWaivers
}

export type ReportAnswer =
  | null
  | Wanted
  | WantedForLists
  | readonly string[]
  | { readonly data: ReportData }
  | MadeReport

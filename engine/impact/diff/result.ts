// The result of a comparison of two manifests: plain data that the command, the GitHub Action and the platform print.
import type { Manifest } from '@svc/schemas'
import type { RiskLevel } from '../../agent/risk.js'

/** `changed` has no direction; `none` changes no decision. */
export type Effect = 'stricter' | 'looser' | 'changed' | 'none'

/** A member of a policy that differs; a value that is left out is missing on that side. */
export interface MemberChange {
  /** Dot-separated, such as `params.max_steps` or `params.conditions.1.params.max_steps`. */
  readonly path: string
  readonly old?: unknown
  readonly new?: unknown
  readonly effect: Effect
}

export interface PolicyChange {
  /** The name in the new manifest; of a removed policy the name in the old one. */
  readonly name: string
  /** The name in the old manifest, when it is another one. */
  readonly old_name?: string
  readonly change: 'added' | 'removed' | Effect
  readonly members: readonly MemberChange[]
}

/** A waiver that differs: the last day in UTC, left out on the side without the waiver. */
export interface WaiverChange {
  readonly policy: string
  readonly agent_key: string
  readonly old?: string
  readonly new?: string
  readonly change: Effect
}

/** An agent of an inventory. */
export interface DiffAgent {
  readonly agent_key: string
  readonly name?: string | undefined
  /** A missing or unknown level is unclassified. */
  readonly risk_classification?: unknown
}

export interface AgentChange {
  readonly agent_key: string
  readonly name: string | null
  readonly risk_classification: RiskLevel
  /** The policies of the manifest that are in force for the agent. */
  readonly policies_before: number
  readonly policies_after: number
  /** The agent had policies of this manifest, and has none of it any more. */
  readonly ungoverned: boolean
  readonly policies: readonly PolicyChange[]
}

/** Policies by change; `stricter` and `looser` include waivers. */
export interface DiffCounts {
  readonly added: number
  readonly removed: number
  readonly stricter: number
  readonly looser: number
  readonly changed: number
}

export type ManifestName = Pick<Manifest, 'name' | 'version'>

export interface ManifestDiff {
  /** Null for a manifest that is added. */
  readonly old: ManifestName | null
  /** Null for a manifest that is deleted. */
  readonly new: ManifestName | null
  /** In the order of the new manifest; the removed policies last. Policies that are equal are left out. */
  readonly policies: readonly PolicyChange[]
  readonly waivers: readonly WaiverChange[]
  readonly counts: DiffCounts
  /** Every agent that was given. */
  readonly agents: readonly AgentChange[]
  /** Keys of the agents for which a policy is added, removed, stricter, looser or changed. */
  readonly affected_agents: readonly string[]
}

/** The effect of several changes together. */
export function combined(effects: Iterable<Effect>): Effect {
  const found = new Set(effects)
  found.delete('none')
  const [only = 'none'] = found
  return found.size > 1 ? 'changed' : only
}

export function inverted(effect: Effect): Effect {
  if (effect === 'stricter') return 'looser'
  return effect === 'looser' ? 'stricter' : effect
}

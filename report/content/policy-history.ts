// The parts of a report on exceptions from policies, and on policies that changed. Part of its content (report-data.ts).

interface ManifestVersion {
  readonly path: string
  /** Git's ids of the file before and after; null where the event does not hold it. */
  readonly from_sha: string | null
  readonly to_sha: string | null
}

/** One waiver of a policy for one agent, over all versions of its manifest in the period. */
export interface WaiverResult {
  readonly policy_name: string
  readonly agent_id: string
  readonly agent_name: string
  /** The latest version of the period that has it. */
  readonly manifest: {
    readonly name: string | null
    readonly repo: string | null
    readonly path: string | null
    /** Git's id of the file, which the policy set of each step holds. */
    readonly sha: string | null
  }
  /** The time at which it came into force; null if it is not known. */
  readonly from: string | null
  /** Its end, exclusive: 24:00 UTC of the day that the manifest names. */
  readonly until: string
  /** Violations of the period that it waived. */
  readonly used: number
  /** As the manifest states them; null if its text is not stored. */
  readonly reason: string | null
  readonly approved_by: string | null
}

/** One change of policies; equal changes of several agents share a row. */
export interface PolicyChangeResult {
  /** The first and the last time of the row. */
  readonly at: string
  readonly last_at: string
  /** The kind of the event. */
  readonly kind: string
  /** Null for a policy that people wrote. */
  readonly manifest: ManifestVersion | null
  /** Whose policies changed, oldest first; none for a policy of all agents or of a risk level. */
  readonly agents: readonly { readonly agent_id: string; readonly agent_name: string }[]
  readonly more_agents: number
  /** The level of a written policy that is for the agents of one risk level. */
  readonly risk_classification: string | null
  readonly effect: 'stricter' | 'looser' | 'changed' | 'none'
  /** False for an event that holds no values. */
  readonly recorded: boolean
  readonly policies: readonly PolicyValues[]
  /** Changed values that are not listed. */
  readonly more_values: number
  /** The commit of the version; null for the library, the baseline and written policies. */
  readonly commit_sha: string | null
  /** The actor that caused the event. */
  readonly actor: string
  /** True if guards had held the version. */
  readonly held: boolean
  /** The actor that approved a version that was held. */
  readonly approved_by: string | null
}

export interface PolicyValues {
  readonly name: string
  /** The name before, if it is another one. */
  readonly old_name: string | null
  readonly change: 'added' | 'removed' | PolicyChangeResult['effect']
  readonly values: readonly {
    /** Such as `params.max_steps`. */
    readonly path: string
    /** The old and the new value, such as `3 → 10`; long ones are cut. */
    readonly what: string
    readonly effect: PolicyChangeResult['effect']
  }[]
}

// The impact of a change of manifests on the agents that they are assigned to, and on the tasks that these agents recorded.
import type { RiskLevel } from '@svc/engine'
import type { FirstFlip, Listed, ReplayManifest, TaskCounts } from '@svc/engine/parts'
import type { LeftOutReason } from '../recorded/whole-tasks.js'

/** One manifest of a repository as it would be after the change. */
export interface ManifestChange {
  /** The path by which assignments name the manifest. */
  readonly manifest_path: string
  /** The manifest at the new head; null for one that is deleted. */
  readonly next: ReplayManifest | null
}

export interface ImpactRequest {
  readonly repo_id: number
  readonly changes: readonly ManifestChange[]
  /** Tasks whose last step was received within these days before now. */
  readonly days: number
  /** The most tasks to replay; of more, a random sample is replayed. */
  readonly max_tasks: number
  /** The most steps of them together: with more, the random sample is smaller. The time of a replay is bounded by it. */
  readonly max_steps: number
}

/** An agent with an active assignment of a changed manifest that follows its branch; the numbers are of its replayed tasks. */
export interface ImpactAgent extends TaskCounts {
  readonly agent_id: string
  readonly agent_key: string
  readonly name: string
  readonly risk_classification: RiskLevel
  readonly manifest_paths: readonly string[]
  /** Policies in effect of the agent, of all sources; it is ungoverned after the change when none are left. */
  readonly policies_before: number
  readonly policies_after: number
}

/** An agent whose assignment of a changed manifest is pinned: it does not follow the branch, and the change does not affect it. */
export interface PinnedAgent {
  readonly agent_id: string
  readonly agent_key: string
  readonly name: string
  readonly manifest_path: string
  readonly pinned_sha: string
}

/** The numbers of replayed tasks are those of the sample when one was taken. */
export interface ImpactReport extends TaskCounts {
  /** In the order of their keys. */
  readonly agents: readonly ImpactAgent[]
  readonly pinned_agents: readonly PinnedAgent[]
  /** Recorded tasks of these agents in the period. */
  readonly recorded_tasks: number
  readonly sampled_tasks: number
  /** Of the sample. */
  readonly left_out: readonly { readonly reason: LeftOutReason; readonly tasks: number }[]
  /** Each of at most 100 tasks; see `Impact`. */
  readonly first_flips: Listed<TaskFlip>
}

/** The first step of a task whose outcome changes. */
export interface TaskFlip extends Omit<FirstFlip, 'agent'> {
  readonly agent_id: string
  readonly agent_key: string
}

// What a change of manifests would do to the agents that they are assigned to, and to the tasks that these agents recorded.
import type { Flip, ReplayManifest, RiskLevel, TaskChange } from '@svc/engine'
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

/** An agent with an active assignment of a changed manifest that follows its branch. */
export interface ImpactAgent {
  readonly agent_id: string
  readonly agent_key: string
  readonly name: string
  readonly risk_classification: RiskLevel
  readonly manifest_paths: readonly string[]
  /** Policies in effect of the agent, of all sources; it is ungoverned after the change when none are left. */
  readonly policies_before: number
  readonly policies_after: number
  /** Tasks of the agent that were replayed, and that flip. */
  readonly tasks: number
  readonly newly_blocked_tasks: number
  readonly newly_asked_tasks: number
  readonly no_longer_blocked_tasks: number
}

/** A number of tasks among the replayed ones. */
export interface TaskShare {
  readonly tasks: number
  /** Of a sample: the share of all tasks, with the 95 % interval of Wilson (1927), 0 to 1; null when every task was replayed. */
  readonly interval: readonly [low: number, high: number] | null
}

/** An agent whose assignment of a changed manifest is pinned: it does not follow the branch, and the change does not affect it. */
export interface PinnedAgent {
  readonly agent_id: string
  readonly agent_key: string
  readonly name: string
  readonly manifest_path: string
  readonly pinned_sha: string
}

export interface ImpactReport {
  /** In the order of their keys. */
  readonly agents: readonly ImpactAgent[]
  readonly pinned_agents: readonly PinnedAgent[]
  /** Recorded tasks of these agents in the period; `replayed` and `left_out` are about the sample when one was taken. */
  readonly recorded_tasks: number
  readonly sampled_tasks: number
  readonly replayed_tasks: number
  readonly replayed_steps: number
  readonly left_out: readonly { readonly reason: LeftOutReason; readonly tasks: number }[]
  /** Tasks that a step blocks, and that none blocked before. */
  readonly newly_blocked: TaskShare
  /** Tasks in neither of the other numbers in which a step asks a person, and none blocked or asked before. */
  readonly newly_asked: TaskShare
  readonly no_longer_blocked: TaskShare
  /**
   * The first step of each task that flips: newly blocked tasks, then those no longer blocked, newly asked, and others; in each
   * by agent and by time; at most 100 tasks.
   */
  readonly first_flips: { readonly total: number; readonly listed: readonly TaskFlip[] }
}

/** The first step of a task whose outcome changes: the reason and the line of the manifest are in `flip`. */
export interface TaskFlip {
  readonly agent_id: string
  readonly agent_key: string
  /** Null when its flips only end questions, or begin or end reports. */
  readonly change: TaskChange | null
  readonly flip: Flip
  /** Of a newly blocked task: the first step that blocks, which may come after the flip; null at the end of the steps. */
  readonly blocked_step: number | null
}

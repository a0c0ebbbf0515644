// A handler of an event. It only sends jobs: what a payload says is a hint, and the jobs read afresh what is true.
import type { MergeGroup } from '../check/check-pull-request.js'
import type { Members } from '../github/members.js'

/** A connection of a repository in the workspace of the App. */
export interface Connection {
  readonly repo_id: number
  readonly branch: string
}

/** The parts that handlers use. `installation_id` and `github_id` are GitHub's own. */
export interface HandlerParts {
  readonly app_id: number
  /** The connections of a repository by an installation of the workspace; none for an installation that it does not have. */
  readonly connections: (installation_id: number, github_id: number) => Promise<readonly Connection[]>
  /** Reads the branch of a connection, and reports what is in force then. */
  readonly followPush: (repo_id: number) => Promise<void>
  /** `head`: the commit that the event names. */
  readonly checkPullRequest: (repo_id: number, number: number, head: string | null) => Promise<void>
  readonly checkMergeGroup: (repo_id: number, group: MergeGroup) => Promise<void>
  /** Checks the open pull requests whose head is this commit. */
  readonly checkHead: (repo_id: number, head_sha: string) => Promise<void>
  /** Brings the connections in step with what an installation covers now. */
  readonly followInstallation: (installation_id: number) => Promise<void>
}

export interface Handler {
  /** As GitHub names them, with the action: `push`, `pull_request.opened`. */
  readonly events: readonly string[]
  readonly run: (parts: HandlerParts, payload: Members) => Promise<void>
}

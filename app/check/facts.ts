// Everything that the content of a check run is made from: plain data, collected before.
import type { DiffReport, Finding, Validation } from '@svc/engine/parts'
import type { ImpactReport } from '@svc/platform'
import type { Loosening } from './rules/loosening.js'
import type { Requirement } from './rules/review.js'

/** A test of the base that the change removes or rewrites, and that fails on the new manifest. */
export interface BrokenTest {
  /** The manifest. */
  readonly path: string
  readonly name: string
  readonly change: 'removed' | 'rewritten'
  readonly failures: readonly string[]
}

/** A manifest that is at another path now: assignments name paths. */
export interface Move {
  readonly from: string
  readonly to: string
}

/** The line of each policy, by the path of its manifest and its name. */
export type PolicyLines = ReadonlyMap<string, ReadonlyMap<string, number>>

/** A change of what is checked, and how. */
export interface CheckedChange {
  readonly path: string
  /** With values in backticks, such as ``waiver of `Refunds are small` added``. */
  readonly what: string
}

export interface CheckFacts {
  /** Null for a merge group: its pull requests were checked one by one. */
  readonly pull_number: number | null
  readonly head_sha: string
  readonly base: { readonly branch: string; readonly commit: string }
  /** The page of the repository, without a slash at the end. */
  readonly web_url: string
  /** Paths of the manifests, and of their tests, that differ. */
  readonly changed: readonly string[]
  readonly validation: Validation
  readonly lines: { readonly head: PolicyLines; readonly base: PolicyLines }
  readonly diff: DiffReport
  /** Manifests that were not compared, because they have errors now or in the base. */
  readonly left_out: readonly string[]
  readonly moves: readonly Move[]
  readonly broken_tests: readonly BrokenTest[]
  readonly checked: readonly CheckedChange[]
  /** Null when the manifests have errors: half of a manifest would give a wrong picture. */
  readonly impact: ImpactReport | null
  readonly days: number
  /** Why the names of agents, tasks and steps are left out of `impact` and `diff`; null where they are not. */
  readonly hidden: 'public' | 'setting' | null
  /** False for a change whose author may not learn numbers of recorded tasks. */
  readonly is_replayed: boolean
  /** False with `tests: off` in the settings. */
  readonly are_tests_run: boolean
  readonly loosenings: readonly Loosening[]
  readonly requirement: Requirement
  /** Of the settings of the base, which do not apply then. */
  readonly settings_findings: readonly Finding[]
}

/** The address of the files of the head on the web. */
export function addressOf({ web_url, head_sha }: Pick<CheckFacts, 'web_url' | 'head_sha'>): string {
  return `${web_url}/blob/${head_sha}`
}

/** The findings that make a manifest unusable: a failed test does not. */
export function errorsOf({ findings }: Pick<Validation, 'findings'>): Finding[] {
  return findings.filter(({ severity, id }) => severity === 'error' && id !== 'test-failed')
}

/** Agents that had policies, and would have none. */
export function ungovernedAgents({ impact }: Pick<CheckFacts, 'impact'>) {
  return (
    impact?.agents.filter(({ policies_before, policies_after }) => policies_before > 0 && policies_after === 0) ?? []
  )
}

/**
 * The agents by what the merge does to them. `kept`: every manifest of theirs that changes is gone from its path, so that they keep
 * its last version until their assignment is removed. `changed`: all others.
 */
export function agentsByFate({ impact, diff, moves }: Pick<CheckFacts, 'impact' | 'diff' | 'moves'>) {
  const gone = new Set([
    ...diff.manifests.filter((one) => one.new === null).map(({ path }) => path),
    ...moves.map(({ from }) => from),
  ])
  const agents = impact?.agents ?? []
  const isKept = (path: string) => gone.has(path)
  return {
    kept: agents.filter(({ manifest_paths }) => manifest_paths.every(isKept)),
    partly: agents.filter(({ manifest_paths }) => manifest_paths.some(isKept)),
    changed: agents.filter(({ manifest_paths }) => !manifest_paths.every(isKept)),
  }
}

/** The place of a policy of this repository: at the head, or in the base if the change removes it. */
export interface PolicyPlace {
  readonly file: string
  readonly line: number
  readonly is_head: boolean
}

/** Null for a policy of another source. */
export function placeOfPolicy(
  { lines }: Pick<CheckFacts, 'lines'>,
  name: string,
  file: string | null,
): PolicyPlace | null {
  if (file === null) return null
  const head = lines.head.get(file)?.get(name)
  if (head !== undefined) return { file, line: head, is_head: true }
  const base = lines.base.get(file)?.get(name)
  return base === undefined ? null : { file, line: base, is_head: false }
}

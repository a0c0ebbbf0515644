// Collects the facts of a change: two trees → files, validation, diff, impact.
import {
  diffFiles,
  type InventoryAgent,
  pairFiles,
  parseManifest,
  type ReplayManifest,
  type SourceFile,
} from '@svc/engine'
import type { ImpactReport, ManifestChange } from '@svc/platform'
import { brokenTests } from './base-tests.js'
import { type ChangedFiles, changedPaths, readChangedFiles, readText, type Tree } from './changed-files.js'
import { checkedChanges, guardingLoosenings } from './checked-changes.js'
import { codeownersPaths, readCodeowners } from './codeowners.js'
import { type CheckFacts, type Move, ungovernedAgents } from './facts.js'
import { looseningsOf } from './loosening.js'
import type { CheckParts, FollowedRepository } from './parts.js'
import { type Authorship, requirementOf } from './review.js'
import { readSettings, type SettingsReading, settingsPath } from './settings.js'
import { policyLines, validatedSide } from './validated.js'

/** The commits of a change. Settings and owners are read from `tip`, the head of the base branch. */
export interface ChangeCommits {
  readonly base_branch: string
  readonly tip_sha: string
  /** Where the change has parted from the base. */
  readonly fork_sha: string
  readonly head_sha: string
}

/** Null for a merge group, whose pull requests were reviewed one by one. */
export type Reviewed = (Omit<Authorship, 'agent_accounts' | 'codeowners'> & { readonly number: number }) | null

/** Rejects with SourceError. */
export async function readFacts(
  parts: Pick<CheckParts, 'reader' | 'impactOf' | 'web_url' | 'clock'>,
  repository: FollowedRepository,
  commits: ChangeCommits,
  reviewed: () => Promise<Reviewed>,
): Promise<CheckFacts> {
  const { reader, web_url, clock } = parts
  const { base_branch: branch, tip_sha, fork_sha, head_sha } = commits
  const [old_tree, next_tree] = [await reader.list(fork_sha), await reader.list(head_sha)]
  const tip_tree = tip_sha === fork_sha ? old_tree : await reader.list(tip_sha)
  const rules = await readRules(reader.read, tip_tree)
  const { settings } = rules.settings
  const paths = changedPaths(old_tree, next_tree)
  const files = await readChangedFiles(reader.read, old_tree, next_tree, paths)
  const now = clock()
  const old = await validatedSide(files.old, { tests: 'off', now })
  const head = await validatedSide(files.next, { tests: settings.tests, now })
  const own = await settingsOfHead(reader.read, next_tree, paths)
  const validation = { ...head, findings: [...head.findings, ...own] }
  const { files: pairs, left_out } = pairFiles(old.manifests, head.manifests)
  const moves = pairs.flatMap(({ path, aliases = [] }): Move[] =>
    aliases.flatMap((from) => (from === path ? [] : [{ from, to: path }])),
  )
  const isWhole = validation.findings.every(({ severity, id }) => severity !== 'error' || id === 'test-failed')
  const changes = isWhole ? changesOf(files) : []
  const days = settings.impact_days
  const impact =
    changes.length === 0
      ? null
      : await parts.impactOf({ repo_id: repository.id, changes, days, max_tasks: maxTasks }, head_sha)
  const pathInBase = (path: string) => moves.find(({ to }) => to === path)?.from ?? path
  const broken_tests = brokenTests(files.old, files.next, head.manifests, pathInBase)
  const diff = {
    ...diffFiles(pairs, inventoryOf(impact)),
    ungoverned_agents: ungovernedAgents({ impact }).map(({ agent_key }) => agent_key),
  }
  const loosenings = [...looseningsOf(diff), ...guardingLoosenings(paths)]
  const authorship = await reviewed()
  return {
    pull_number: authorship?.number ?? null,
    head_sha,
    base: { branch, commit: fork_sha },
    web_url,
    changed: files.changed,
    validation,
    lines: { head: policyLines(files.next.manifests), base: policyLines(files.old.manifests) },
    diff,
    left_out,
    moves,
    broken_tests,
    checked: checkedChanges(diff, { old: old.manifests, next: head.manifests }, broken_tests, paths),
    impact,
    days,
    loosenings,
    requirement:
      authorship === null
        ? { kind: 'none' }
        : requirementOf(loosenings, new Set(broken_tests.map(({ path }) => path)), {
            ...authorship,
            agent_accounts: settings.agent_accounts,
            codeowners: rules.codeowners,
          }),
    settings_findings: rules.settings.findings,
  }
}

/** The most tasks to replay; of more a random sample. */
const maxTasks = 2000

interface Rules {
  readonly settings: SettingsReading
  readonly codeowners: ReturnType<typeof readCodeowners>
}

async function readRules(read: CheckParts['reader']['read'], tree: Tree): Promise<Rules> {
  const owners = codeownersPaths.find((path) => tree.has(path))
  return {
    settings: readSettings(await readText(read, tree, settingsPath)),
    codeowners: readCodeowners(owners === undefined ? null : await readText(read, tree, owners)),
  }
}

/** What is wrong with settings that the change writes: they do not apply yet, and would not after the merge. */
async function settingsOfHead(read: CheckParts['reader']['read'], tree: Tree, paths: readonly string[]) {
  return paths.includes(settingsPath) ? readSettings(await readText(read, tree, settingsPath)).findings : []
}

/** The manifests after the change, by the paths that assignments name; those whose tests alone differ are left out. */
function changesOf({ old, next }: ChangedFiles): ManifestChange[] {
  const [before, after] = [old, next].map(({ manifests }) => new Map(manifests.map((file) => [file.path, file])))
  return [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].flatMap((manifest_path) => {
    const file = after?.get(manifest_path)
    if (file !== undefined && file.text === before?.get(manifest_path)?.text) return []
    return [{ manifest_path, next: file === undefined ? null : replayed(file) }]
  })
}

function replayed({ path, text }: SourceFile): ReplayManifest | null {
  const { value: manifest, lines } = parseManifest(text ?? '', path)
  return manifest === null ? null : { manifest, file: path, lines }
}

function inventoryOf(impact: ImpactReport | null): InventoryAgent[] {
  return (impact?.agents ?? []).map(({ agent_key, name, risk_classification, manifest_paths }) => {
    return { agent_key, name, risk_classification, manifests: manifest_paths }
  })
}

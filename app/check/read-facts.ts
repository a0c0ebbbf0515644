// Collects the facts of a change: two trees → files, validation, diff, impact.
import { parseManifest } from '@svc/engine'
import { diffFiles, type InventoryAgent, pairFiles, type ReplayManifest, type SourceFile } from '@svc/engine/parts'
import type { ImpactReport, ManifestChange } from '@svc/platform'
import { type ChangedFiles, changedPaths, readChangedFiles, readText, type Tree } from './changed-files.js'
import { countsOnly } from './content/counts-only.js'
import { type CheckFacts, errorsOf, type Move, ungovernedAgents } from './facts.js'
import type { CheckParts, FollowedRepository } from './parts.js'
import { brokenTests } from './rules/base-tests.js'
import { checkedChanges, guardingLoosenings } from './rules/checked-changes.js'
import { codeownersPaths, readCodeowners } from './rules/codeowners.js'
import { looseningsOf, unseenLoosenings } from './rules/loosening.js'
import { type Authorship, requirementOf, vouchedRequirement } from './rules/review.js'
import { hiddenBy, misnamedPath, type SettingsReading, settingsOf, settingsPath } from './rules/settings.js'
import { policyLines, validatedSide } from './validated.js'

/** The commits of a change. Settings and owners are read from `tip`, the head of the base branch. */
interface ChangeCommits {
  readonly base_branch: string
  readonly tip_sha: string
  /** The commit at which the change has parted from the base. */
  readonly fork_sha: string
  readonly head_sha: string
  /** True if the head comes from another repository. */
  readonly is_fork: boolean
}

/** Null for a merge group, whose pull requests were reviewed one by one. */
export type Reviewed =
  | (Omit<Authorship, 'agent_accounts' | 'codeowners' | 'settings_known'> & { readonly number: number })
  | null

type Parts = Pick<CheckParts, 'reader' | 'impactOf' | 'web_url' | 'clock'>

/** Rejects with SourceError. */
export async function readFacts(
  parts: Parts,
  repository: FollowedRepository,
  commits: ChangeCommits,
  reviewed: () => Promise<Reviewed>,
): Promise<CheckFacts> {
  const { base_branch: branch, fork_sha, head_sha, is_fork } = commits
  const { paths, rules, files, old, head, validation } = await readChange(parts, commits, repository.assigned)
  const { settings, findings: settings_findings } = rules.settings
  const { files: pairs, left_out } = pairFiles(old.manifests, head.manifests)
  const moves = pairs.flatMap(({ path, aliases = [] }) => movesOf(path, aliases))
  const days = settings.impact_days
  const changes = errorsOf(validation).length === 0 ? changesOf(files) : []
  const request = { repo_id: repository.id, changes, days, max_tasks: maxTasks, max_steps: maxSteps }
  const hidden = hiddenBy(settings, repository.visibility)
  const is_replayed = !(is_fork && hidden === 'public')
  const lines = { head: policyLines(files.next.manifests), base: policyLines(files.old.manifests) }
  const replayed = changes.length === 0 || !is_replayed ? null : await parts.impactOf(request, head_sha)
  const impact = replayed === null || hidden === null ? replayed : countsOnly(replayed, lines)
  const broken_tests = brokenTests(files.old, files.next, head.manifests, (path) => pathInBase(moves, path))
  const diff = {
    ...diffFiles(pairs, hidden === null ? inventoryOf(impact) : []),
    ungoverned_agents: hidden === null ? ungovernedAgents({ impact }).map(({ agent_key }) => agent_key) : [],
  }
  const added = pairs.flatMap(({ path, old }) => (old === null && repository.assigned.has(path) ? [path] : []))
  const unseen = errorsOf(validation).length === 0 ? unseenLoosenings(moves, left_out, added) : []
  const loosenings = [...looseningsOf(diff), ...unseen, ...guardingLoosenings(paths)]
  const authorship = await reviewed()
  const settings_known = settings_findings.length === 0
  const known = { agent_accounts: settings.agent_accounts, codeowners: rules.codeowners, settings_known }
  const broken = new Set(broken_tests.map(({ path }) => path))
  return {
    pull_number: authorship?.number ?? null,
    head_sha,
    base: { branch, commit: fork_sha },
    web_url: parts.web_url,
    changed: files.changed,
    validation,
    lines,
    diff,
    left_out,
    moves,
    broken_tests,
    checked: checkedChanges(diff, { old: old.manifests, next: head.manifests }, paths),
    impact,
    days,
    hidden,
    is_replayed,
    are_tests_run: settings.tests !== 'off',
    loosenings,
    requirement:
      authorship === null
        ? { kind: 'none' }
        : await vouchedRequirement(parts.reader, authorship.number, (vouching) =>
            requirementOf(loosenings, broken, { ...authorship, ...known }, vouching),
          ),
    settings_findings,
  }
}

/** The files that differ, validated on both sides, and the rules of the base. */
async function readChange(
  { reader, clock }: Parts,
  { tip_sha, fork_sha, head_sha }: ChangeCommits,
  assigned: ReadonlySet<string>,
) {
  const [old_tree, next_tree] = [await reader.list(fork_sha), await reader.list(head_sha)]
  const rules = await readRules(reader.read, tip_sha === fork_sha ? old_tree : await reader.list(tip_sha))
  const paths = changedPaths(old_tree, next_tree)
  const files = await readChangedFiles(reader.read, old_tree, next_tree, paths, assigned)
  const now = clock()
  const old = await validatedSide(files.old, { tests: 'off', now })
  const head = await validatedSide(files.next, { tests: rules.settings.settings.tests, now })
  const findings = [...head.findings, ...(await settingsOfHead(reader.read, next_tree, paths))]
  return { paths, rules, files, old, head, validation: { ...head, findings } }
}

function movesOf(to: string, aliases: readonly string[]): Move[] {
  return aliases.flatMap((from) => (from === to ? [] : [{ from, to }]))
}

function pathInBase(moves: readonly Move[], path: string): string {
  return moves.find(({ to }) => to === path)?.from ?? path
}

/** The most to replay, about 20 s of work; of more a random sample. */
const maxTasks = 10_000
const maxSteps = 300_000

interface Rules {
  readonly settings: SettingsReading
  readonly codeowners: ReturnType<typeof readCodeowners>
}

async function readRules(read: CheckParts['reader']['read'], tree: Tree): Promise<Rules> {
  const owners = codeownersPaths.find((path) => tree.has(path))
  return {
    settings: await settingsOf(read, tree),
    codeowners: readCodeowners(owners === undefined ? null : await readText(read, tree, owners)),
  }
}

/** Findings in the settings that the change writes: they do not apply yet, and would not after the merge. */
async function settingsOfHead(read: CheckParts['reader']['read'], tree: Tree, paths: readonly string[]) {
  return paths.includes(settingsPath) || paths.includes(misnamedPath) ? (await settingsOf(read, tree)).findings : []
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

// The states of assignments and repositories, and differences between versions, in words for people.
import type { Assignment, AssignmentDiff, Condition, Finding, Repository } from '@svc/schemas'
import { badge, type Html, hash, joined, nothing, piece, type Tone, text, ticked, time } from '../../views/html.js'
import { sentenceOf } from '../../views/page.js'

type Shown = readonly [label: string, tone: Tone]

const statuses: Readonly<Record<Assignment['status'], Shown>> = {
  synced: ['in step with the branch', 'green'],
  out_of_sync: ['behind the branch', 'yellow'],
  degraded: ['cannot follow the branch', 'orange'],
  pinned: ['pinned', 'blue'],
}

/** What keeps it from its branch, and the remedy. */
const kinds: Readonly<Record<Condition['kind'], readonly [string, string]>> = {
  guard_tripped: ['Waits for an approval', 'Read what changes, then approve the version, or push another one.'],
  invalid_manifest: ['The manifest has errors', 'Push a correction.'],
  manifest_missing: ['The manifest is missing', 'Restore the file, or assign the new path and remove this assignment.'],
  rejected_version: ['The version was rolled back', 'Push another version, or resync.'],
  branch_missing: ['The branch is missing', 'Restore the branch.'],
  access_revoked: ['The access was revoked', 'Replace the access token of the repository.'],
  fetch_failed: ['The branch cannot be read', 'The platform tries again by itself.'],
}

/** The status, and a version that waits. The baseline and the library follow the release and not a branch. */
export function assignmentState({ status, held_sha, conditions, repo_id }: Assignment): Html {
  const shown: Shown = status === 'synced' && repo_id === null ? ['in force', 'green'] : statuses[status]
  const others = conditions.filter(({ kind }) => kind !== 'guard_tripped')
  return joined([
    badge(...shown),
    held_sha === null ? nothing : badge('a version waits for approval', 'orange'),
    ...others.map(({ kind }) => text(kinds[kind][0].toLowerCase())),
  ])
}

export function repositoryState({ status, conditions }: Repository): Html {
  return joined([
    status === 'synced' ? badge('read', 'green') : badge('cannot be read', 'orange'),
    ...conditions.map(({ kind }) => text(kinds[kind][0].toLowerCase())),
  ])
}

/** Each condition with its message and what to do. */
export function conditionsView(conditions: readonly Condition[]): Html {
  if (conditions.length === 0) return nothing
  return alerts({
    conditions: conditions.map(({ kind, message, since }) => ({
      title: kinds[kind][0],
      remedy: kinds[kind][1],
      message: ticked(sentenceOf(withoutCommand(message))),
      since: time(since),
    })),
    last: 'The last valid policies stay in force.',
  })
}

/** The messages of the API end in the command that approves, of which the page has the button. */
function withoutCommand(message: string): string {
  return message.replace(/: to put it in force, run `[^`]*`$/, '')
}

const alerts =
  piece(`{{#each conditions}}<div class="alert alert-warning" role="status"><div><strong>{{title}}</strong> since {{since}}. {{../last}}
<div class="lines"><bdi>{{message}}</bdi></div><div>{{remedy}}</div></div></div>{{/each}}`)

const changes: Readonly<Record<AssignmentDiff['changes'][number]['change'], Shown>> = {
  added: ['added', 'green'],
  removed: ['removed', 'red'],
  stricter: ['stricter', 'green'],
  looser: ['looser', 'red'],
  changed: ['stricter or looser', 'yellow'],
  none: ['no other decision', 'secondary'],
}

export function changeBadge(change: keyof typeof changes): Html {
  return badge(...changes[change])
}

const severities: Readonly<Record<Finding['severity'], Tone>> = { error: 'red', warning: 'yellow', info: 'blue' }

export function findingBadge(severity: Finding['severity']): Html {
  return badge(severity, severities[severity])
}

/** Who put a version in force. */
export function putBy(by: string | null): string | null {
  return by === 'resync' || by === 'webhook' ? 'a push to the branch' : by
}

/** The repository of the manifests that come with the platform. */
export const bundled = 'Bundled library'

type Origin = Pick<Assignment, 'commit_sha' | 'manifest_repo' | 'core_version'>

/** The commit of a version in force, or the release that it is part of. */
export function commitOf(origin: Origin): Html {
  const { commit_sha, manifest_repo } = origin
  if (commit_sha !== null) return hash(commit_sha)
  return text(manifest_repo === null ? `none: part of ${releaseOf(origin)}` : 'not known')
}

/** The release that has a bundled manifest. */
export function releaseOf({ core_version }: Pick<Assignment, 'core_version'>): string {
  return core_version === null ? 'an earlier release' : `release ${core_version}`
}

/** A repository by its name. */
export function repositoryName({ provider, owner, name }: Pick<Repository, 'provider' | 'owner' | 'name'>): string {
  if (provider === 'bundled') return bundled
  return owner === '' ? name : `${owner}/${name}`
}

// The page of an assignment: the version in force, the version that the branch has, and what people decide about both.

import type { Assignment } from '@svc/schemas'
import type { DashboardPage } from '../../page.js'
import { address, api, paths } from '../../paths.js'
import { type Named, peopleOf } from '../../people.js'
import { badge, type Html, hash, id, joined, link, nothing, piece, text, time } from '../../views/html.js'
import { facts } from '../../views/pieces.js'
import type { Shown, Visit } from '../../visit.js'
import { assignmentActs, assignmentForm } from './acts.js'
import { differenceOf } from './difference.js'
import { policiesOf } from './policies.js'
import { versionsOf } from './versions.js'
import { assignmentState, bundled, commitOf, conditionsView, putBy, releaseOf } from './words.js'

async function show(visit: Visit): Promise<Shown> {
  const assignment = await visit.api.read('assignment', api`/api/v1/assignments/${visit.params.id ?? ''}`)
  const asked = await assignmentForm(visit, assignment)
  if (asked !== null) return asked
  const nameOf = await peopleOf(visit)
  const [difference, policies, versions] = await Promise.all([
    differenceOf(visit, assignment),
    policiesOf(visit, assignment),
    versionsOf(visit, assignment, nameOf),
  ])
  const content = page({
    state: assignmentState(assignment),
    agent: link(paths.agent(assignment.agent_id), assignment.agent_name || assignment.agent_key),
    buttons: buttonsOf(visit, assignment),
    conditions: conditionsView(assignment.conditions),
    difference,
    waivers: waiversOf(visit, assignment),
    policies,
    versions,
    facts: factsOf(assignment, nameOf),
  })
  return { title: `Manifest ${assignment.manifest_name}`, place: 'manifests', content: content.toHTML() }
}

const page = piece(`<p class="mb-2">Governs {{agent}}. {{state}}</p>
{{#if buttons}}<div class="btn-list mb-3 no-print">{{#each buttons}}<a class="btn{{#if first}} btn-primary{{/if}}{{#if risky}} btn-outline-danger ms-auto{{/if}}" href="{{href}}">{{label}}</a>{{/each}}</div>{{/if}}
{{conditions}}<div class="row"><div class="col-xl-8">{{difference}}
{{#if waivers}}<section class="card"><div class="card-header"><h2 class="card-title">Waivers</h2></div><table class="table rows"><thead><tr><th scope="col">Policy</th><th scope="col">Waived until</th><th scope="col">State</th></tr></thead><tbody>
{{#each waivers}}<tr><td data-label="Policy"><bdi>{{policy}}</bdi></td><td data-label="Waived until">{{until}}</td><td data-label="State">{{state}}</td></tr>
{{/each}}</tbody></table></section>{{/if}}
{{policies}}{{versions}}</div>
<div class="col-xl-4"><section class="card"><div class="card-body">{{facts}}</div></section></div></div>
`)

/** Links to the forms that the state and the role allow; the first one is what the state asks for. */
function buttonsOf({ api: { may }, path }: Visit, { id: number, held_sha, pinned_sha, pin }: Assignment) {
  const own = api`/api/v1/assignments/${number}`
  const form = (name: string, label: string, kind: 'first' | 'risky' | '' = '') => ({
    label,
    first: kind === 'first',
    risky: kind === 'risky',
    href: address(path, { do: name }),
  })
  if (!may('post', `${own}/approve`)) return []
  return [
    ...(held_sha !== null ? [form('approve', 'Approve the version that waits…', 'first')] : []),
    pinned_sha === null ? form('pin', 'Pin…') : form('unpin', 'Unpin…', 'first'),
    form('tasks', pin === null ? 'Keep versions for running tasks…' : 'Change running tasks at once…'),
    form('remove', 'Remove…'),
    ...(pinned_sha === null ? [form('resync', 'Resync without guards…', 'risky')] : []),
  ]
}

function waiversOf({ now }: Visit, { waivers }: Assignment) {
  return waivers.map(({ policy, waived_until }) => ({
    policy,
    until: time(waived_until),
    state: Date.parse(waived_until) > now ? badge('waived', 'yellow') : badge('expired', 'red'),
  }))
}

function factsOf(assignment: Assignment, nameOf: Named) {
  const { id: number, manifest_sha, pinned_sha, repo_id, pin, rejected_shas, skipped } = assignment
  const source = (sha: string) => joined([hash(sha), link(paths.assignment_source(number, { sha }), 'text')])
  const known: readonly (readonly [string, Html])[] = [
    ['In force', source(manifest_sha)],
    ['Since', time(assignment.in_force_since)],
    ['Put in force by', nameOf(putBy(assignment.in_force_by))],
    ['Commit', commitOf(assignment)],
    ['At the head of the branch', headOf(assignment, source)],
    ...(pinned_sha === null ? [] : [['Pinned', source(pinned_sha)] as const]),
    ['Repository', repositoryOf(assignment)],
    ['File', text(assignment.manifest_path)],
    ['Branch', text(assignment.ref ?? (repo_id === null ? `none: part of ${releaseOf(assignment)}` : 'not known'))],
    ['Branch read', repo_id === null ? nothing : time(assignment.checked_at)],
    ['Running tasks', text(pin === 'task' ? 'keep the version that they began with' : 'get a new version at once')],
    ['Assigned', joined([time(assignment.assigned_at), text('by'), nameOf(assignment.assigned_by)])],
    ...(skipped.length === 0
      ? []
      : [['Policies for higher risk levels, not applied', text(skipped.join(', '))] as const]),
    ...(rejected_shas.length === 0 ? [] : [['Rolled back', joined(rejected_shas.map((sha) => hash(sha)))] as const]),
    ['Manifest', id(assignment.manifest_id)],
    ['Engine of the policies', text(assignment.core_version ?? 'an earlier release')],
  ]
  return facts(
    known.filter(([, value]) => value !== nothing),
    'narrow',
  )
}

function headOf({ head_sha, manifest_sha, repo_id }: Assignment, source: (sha: string) => Html): Html {
  if (repo_id === null) return nothing
  if (head_sha === null) return text('the file is not there')
  return head_sha === manifest_sha ? text('the version in force') : source(head_sha)
}

function repositoryOf({ repo_id, manifest_repo }: Assignment): Html {
  if (repo_id === null) return text(bundled)
  return link(paths.repository(repo_id), manifest_repo ?? bundled)
}

export const assignmentPage: DashboardPage = { path: '/manifests/assignments/:id', show, acts: assignmentActs }

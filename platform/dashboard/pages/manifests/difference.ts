// What another version of a manifest changes, in words: stricter or looser, policy by policy.
import type { Assignment, AssignmentDiff } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import { address, api, paths } from '../../paths.js'
import { type Html, hash, joined, link, nothing, piece, text } from '../../views/html.js'
import { sentenceOf } from '../../views/page.js'
import type { Visit } from '../../visit.js'
import { changeBadge } from './words.js'

/** The section about the version that the address names, else the one that waits or is at the head; nothing if it is in force. */
export async function differenceOf(visit: Visit, assignment: Assignment): Promise<Html> {
  const { held_sha, head_sha, manifest_sha } = assignment
  const wanted = visit.query.to ?? held_sha ?? head_sha
  if (wanted === null || (wanted === manifest_sha && visit.query.to === undefined)) return nothing
  const found = await readDifference(visit, assignment.id, wanted)
  if (typeof found === 'string') return unknown({ reason: sentenceOf(found), heading: headingOf(assignment, wanted) })
  return differenceView(assignment, found)
}

/** The difference, or why the versions cannot be compared, such as for a version with errors. */
async function readDifference({ api: { read } }: Visit, id: number, to: string): Promise<AssignmentDiff | string> {
  try {
    return await read('assignment-diff', api`/api/v1/assignments/${id}/diff`, { to })
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'INVALID') return error.errors?.[0]?.message ?? error.message
    throw error
  }
}

const unknown = piece(`<section class="card"><div class="card-header"><h2 class="card-title">{{heading}}</h2></div>
<div class="card-body">The versions cannot be compared. <bdi>{{reason}}</bdi></div></section>
`)

/** The section of a page. */
function differenceView(assignment: Assignment, diff: AssignmentDiff): Html {
  const { from_sha, to_sha, summary, changes, waivers, text: lines } = diff
  const { id } = assignment
  const source = (sha: string) => joined([hash(sha), link(paths.assignment_source(id, { sha }), 'text')])
  return section({
    heading: headingOf(assignment, to_sha),
    summary: sentenceOf(summary),
    from: source(from_sha),
    to: source(to_sha),
    rows: changes.map(({ name, old_name, change, members }) => ({
      name: text(name),
      old: old_name ?? '',
      change: changeBadge(change),
      members: members.map(({ path, what, effect }) => ({ path, what, effect: changeBadge(effect) })),
    })),
    waivers: waivers.map(({ policy, agent_key, change, old, new: next }) => ({
      policy,
      agent_key,
      change: changeBadge(change),
      what: `${old ?? 'no waiver'} → ${next ?? 'no waiver'}`,
    })),
    lines,
  })
}

function headingOf({ held_sha, head_sha, manifest_sha }: Assignment, to: string): string {
  if (to === held_sha) return 'What the version that waits changes'
  if (to === head_sha && to !== manifest_sha) return 'What the version at the head of the branch changes'
  return 'What the other version changes'
}

/** The address of a page that compares the version in force with this one. */
export function compareAddress(id: number, to: string): string {
  return address(paths.assignment(id), { to })
}

const section =
  piece(`<section class="card" id="difference"><div class="card-header"><h2 class="card-title">{{heading}}</h2></div><div class="card-body">
<p class="fs-3 mb-1">{{summary}}</p><p class="text-secondary mb-0">In force {{from}}, other version {{to}}</p></div>
{{#if rows}}<table class="table rows"><thead><tr><th scope="col">Policy</th><th scope="col">Becomes</th><th scope="col">What differs</th></tr></thead><tbody>
{{#each rows}}<tr><td data-label="Policy">{{name}}{{#if old}} <span class="text-secondary">before: <bdi>{{old}}</bdi></span>{{/if}}</td><td data-label="Becomes">{{change}}</td>
<td data-label="What differs">{{#if members}}<ul class="list-unstyled mb-0">{{#each members}}<li><code>{{path}}</code> <bdi>{{what}}</bdi> {{effect}}</li>{{/each}}</ul>{{/if}}</td></tr>
{{/each}}{{#each waivers}}<tr><td data-label="Policy">Waiver of <bdi>{{policy}}</bdi></td><td data-label="Becomes">{{change}}</td><td data-label="What differs"><bdi>{{agent_key}}</bdi>: {{what}}</td></tr>
{{/each}}</tbody></table>{{else}}{{#each waivers}}<div class="card-body">Waiver of <bdi>{{policy}}</bdi>, <bdi>{{agent_key}}</bdi>: {{what}} {{change}}</div>{{/each}}{{/if}}
<div class="card-body"><details><summary>As <code>svc diff</code> prints it</summary><pre class="json" tabindex="0"><code>{{lines}}</code></pre></details></div></section>
`)

// The manifests that govern an agent, with their versions, and the policies that apply.
import type { Agent, Assignment } from '@svc/schemas'
import { paths } from '../../paths.js'
import { countedOrNone, type Html, hash, joined, link, piece, text, time } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { assignmentState, releaseOf } from '../manifests/words.js'

/** The section of a page. */
export async function manifestsOf({ api: { read, may } }: Visit, { agent_id }: Agent): Promise<Html> {
  const enabled = { agent_id, enabled: 'true' }
  const [{ assignments, total }, policies] = await Promise.all([
    read('assignment-list', '/api/v1/assignments', { agent_id, limit: '50' }),
    read('policy-list', '/api/v1/policies', { ...enabled, limit: '1' }),
  ])
  return section({
    rows: assignments.map(rowOf),
    policies: link(paths.policies(enabled), countedOrNone(policies.total, 'policy', 'policies')),
    all: link(paths.manifests({ agent_id }), countedOrNone(total, 'manifest')),
    assign: may('post', '/api/v1/assignments') ? link(paths.manifest_files(), 'Assign a manifest') : '',
  })
}

const section =
  piece(`<section class="card"><div class="card-header"><h2 class="card-title">Manifests and policies</h2></div>
{{#if rows}}<table class="table rows"><thead><tr><th scope="col">Manifest</th><th scope="col">Version in force</th><th scope="col">Status</th><th scope="col" class="num">Policies</th></tr></thead><tbody>
{{#each rows}}<tr><td data-label="Manifest">{{manifest}}</td><td data-label="Version in force">{{version}}</td><td data-label="Status">{{status}}</td><td data-label="Policies" class="num">{{policies}}</td></tr>
{{/each}}</tbody></table>{{else}}<div class="empty-state">No manifest is assigned to this agent. Assign one to govern it by a file in Git.</div>{{/if}}
<div class="card-footer">{{all}}, {{policies}} enabled for this agent. Policies that name no agent apply as well.{{#if assign}} {{assign}}{{/if}}</div></section>
`)

function rowOf(assignment: Assignment) {
  const {
    id,
    agent_id,
    manifest_name,
    manifest_path,
    manifest_id,
    manifest_sha,
    commit_sha,
    policies,
    in_force_since,
  } = assignment
  return {
    manifest: link(paths.assignment(id), manifest_name),
    version: joined([
      text(`${manifest_path} @`),
      commit_sha === null ? versionOf(assignment) : hash(commit_sha),
      link(paths.assignment_source(id, { sha: manifest_sha }), 'text'),
      text('since'),
      time(in_force_since),
    ]),
    status: assignmentState(assignment),
    policies: link(paths.policies({ agent_id, manifest_id, enabled: 'true' }), policies),
  }
}

/** The release of a manifest that comes with the platform; the text of the file where its commit is not known. */
function versionOf(assignment: Assignment): Html {
  const { manifest_repo, manifest_sha } = assignment
  return manifest_repo === null ? text(releaseOf(assignment)) : joined([text('blob'), hash(manifest_sha)])
}

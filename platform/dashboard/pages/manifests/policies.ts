// The policies of an assignment, each with its line in the manifest.
import type { Assignment, Policy } from '@svc/schemas'
import { api, paths } from '../../paths.js'
import { badge, countedOrNone, type Html, joined, link, nothing, piece, severity } from '../../views/html.js'
import type { Visit } from '../../visit.js'

/** More policies than a manifest of this size are shown by the list of policies. */
const maxPolicies = 200

/** The section of a page. */
export async function policiesOf({ api: { read } }: Visit, assignment: Assignment): Promise<Html> {
  const { id, agent_id, manifest_id, manifest_sha } = assignment
  const filter = { agent_id, manifest_id, enabled: 'true' }
  const [{ policies, total }, { lines }] = await Promise.all([
    read('policy-list', '/api/v1/policies', { ...filter, limit: String(maxPolicies) }),
    read('assignment-source', api`/api/v1/assignments/${id}/source`),
  ])
  return section({
    policies: policies.map((policy) => ({
      name: link(paths.policy(policy.id), policy.name),
      severity: severity(policy.severity),
      state: stateOf(policy),
      line: lineOf(id, manifest_sha, lines[policy.name]),
    })),
    all: link(paths.policies(filter), countedOrNone(total, 'policy', 'policies')),
    others: link(
      paths.policies({ agent_id, manifest_id, enabled: 'false' }),
      'Disabled ones and those of earlier versions',
    ),
  })
}

const section =
  piece(`<section class="card"><div class="card-header"><h2 class="card-title">Policies in force</h2></div>
{{#if policies}}<table class="table rows"><thead><tr><th scope="col">Policy</th><th scope="col">Severity</th><th scope="col">State</th><th scope="col">In the file</th></tr></thead><tbody>
{{#each policies}}<tr><td data-label="Policy">{{name}}</td><td data-label="Severity">{{severity}}</td><td data-label="State">{{state}}</td><td data-label="In the file">{{line}}</td></tr>
{{/each}}</tbody></table><div class="card-footer">{{all}} in force. {{others}}</div>{{else}}<div class="empty-state">The version in force has no enabled policy for this agent. {{others}}</div>{{/if}}</section>
`)

function stateOf({ mode, overridden }: Policy): Html {
  return joined([
    mode === 'observe' ? badge('observed only', 'yellow') : badge('enforced', 'green'),
    overridden == null ? nothing : badge('set by a member', 'yellow'),
  ])
}

function lineOf(id: number, sha: string, line: unknown): Html {
  return typeof line === 'number' ? link(`${paths.assignment_source(id, { sha })}#L${line}`, `line ${line}`) : nothing
}

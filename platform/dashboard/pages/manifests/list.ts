// The list of assignments: which agent is governed by which manifest, and in which version.
import type { Assignment } from '@svc/schemas'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { badge, type Html, hash, joined, link, number, text, time } from '../../views/html.js'
import { tabs } from './tabs.js'
import { assignmentState } from './words.js'

const assignments: Listing<Assignment> = {
  place: 'manifests',
  title: 'Manifests',
  path: '/manifests',
  schema: 'assignment-list',
  rows: 'assignments',
  endpoint: '/api/v1/assignments',
  filters: [
    {
      kind: 'choice',
      name: 'status',
      label: 'Status',
      values: [['synced', 'in step'], ['out_of_sync', 'behind the branch'], ['degraded', 'cannot follow'], 'pinned'],
    },
  ],
  presets: [
    ['Waits for approval', { held: 'true' }],
    ['Behind the branch', { status: 'out_of_sync' }],
    ['Cannot follow', { status: 'degraded' }],
    ['Pinned', { status: 'pinned' }],
  ],
  columns: [
    { head: 'Manifest', cell: ({ id, manifest_name }) => link(paths.assignment(id), manifest_name) },
    {
      head: 'Agent',
      cell: ({ agent_id, agent_key, agent_name }) => link(paths.agent(agent_id), agent_name || agent_key),
    },
    {
      head: 'In force',
      cell: ({ id, manifest_sha }) =>
        joined([hash(manifest_sha, 10), link(paths.assignment_source(id, { sha: manifest_sha }), 'text')]),
    },
    { head: 'Desired', cell: desired },
    { head: 'Status', cell: assignmentState },
    {
      head: 'Policies',
      cell: ({ agent_id, manifest_id, policies }) =>
        link(paths.policies({ agent_id, manifest_id, enabled: 'true' }), number(policies)),
      numeric: true,
    },
    { head: 'In force since', cell: ({ in_force_since }) => time(in_force_since) },
  ],
  empty: 'No manifest is assigned. Register an agent: it gets the baseline. Then assign manifests on the tab Files.',
  above: async () => tabs('assignments'),
}

/** The version that the assignment should have: the pinned one, else the one at the head of its branch. */
function desired({ pinned_sha, head_sha, manifest_sha, repo_id }: Assignment): Html {
  if (pinned_sha !== null) return joined([hash(pinned_sha, 10), badge('pinned', 'blue')])
  if (repo_id === null) return text('that of the release')
  if (head_sha === null) return text('not in the branch')
  return head_sha === manifest_sha ? text('the same') : hash(head_sha, 10)
}

export const assignmentsPage = listPage(assignments)

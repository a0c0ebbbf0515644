// The text of a version of a manifest, with the number of each line, and links from policies to their pages.
import type { AssignmentSource, Policy } from '@svc/schemas'
import type { DashboardPage } from '../../page.js'
import { api, paths } from '../../paths.js'
import { type Html, hash, joined, link, nothing, outside, piece, text } from '../../views/html.js'
import type { Shown, Visit } from '../../visit.js'

async function show({ api: { read }, params, query }: Visit): Promise<Shown> {
  const own = api`/api/v1/assignments/${params.id ?? ''}`
  const assignment = await read('assignment', own)
  const source = await read('assignment-source', `${own}/source`, {
    ...(query.sha !== undefined && { sha: query.sha }),
  })
  const { id, agent_id, manifest_id, manifest_sha } = assignment
  const { policies } = await read('policy-list', '/api/v1/policies', {
    agent_id,
    manifest_id,
    enabled: 'true',
    limit: '200',
  })
  const content = page({
    back: link(paths.assignment(id), assignment.manifest_name),
    agent: link(paths.agent(agent_id), assignment.agent_name || assignment.agent_key),
    version: hash(source.sha, 40),
    is_other: source.sha !== manifest_sha,
    in_force: link(paths.assignment_source(id), 'Show the version in force'),
    commit: source.commit_sha === null ? nothing : joined([text('commit'), hash(source.commit_sha)]),
    web: source.web_url === null ? '' : outside(source.web_url, 'Open at GitHub'),
    lines: linesOf(source, policies),
  })
  return { title: source.path, place: 'manifests', content: content.toHTML() }
}

const page =
  piece(`<p class="mb-2">Manifest {{back}} of {{agent}}: version {{version}} {{commit}}{{#if web}} · {{web}}{{/if}}</p>
{{#if is_other}}<div class="alert alert-warning" role="status">This is not the version in force. {{in_force}}</div>{{/if}}
<section class="card" aria-label="Text of the manifest"><ol class="source-lines">{{#each lines}}<li id="L{{number}}"><a href="#L{{number}}" aria-label="Line {{number}}">{{number}}</a><code>{{text}}</code></li>
{{/each}}</ol></section>
`)

function linesOf({ text: yaml, lines }: AssignmentSource, policies: readonly Policy[]) {
  const named = new Map(
    policies.flatMap(({ id, name }) => (typeof lines[name] === 'number' ? [[lines[name], { id, name }] as const] : [])),
  )
  const all = yaml.replace(/\n$/, '').split(/\r?\n/)
  return all.map((line, index) => {
    const policy = named.get(index + 1)
    return { number: index + 1, text: policy === undefined ? text(line) : linked(line, policy) }
  })
}

/** The name of the policy becomes a link; a name that the file spells in another way is named after the line. */
function linked(line: string, { id, name }: Pick<Policy, 'id' | 'name'>): Html {
  const at = line.indexOf(name)
  const page = link(paths.policy(id), name)
  if (at === -1) return joined([text(line), page])
  return joined([text(line.slice(0, at)), page, text(line.slice(at + name.length))], '')
}

export const sourcePage: DashboardPage = { path: '/manifests/assignments/:id/source', show }

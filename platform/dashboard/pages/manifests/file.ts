// The page of a manifest in a repository: its findings, the agents that have it, and the form that assigns it to others.

import type { Agent, Assignment, ListedManifest } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import { nameOf } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { api, paths } from '../../paths.js'
import { type Html, hash, link, number, piece, text, ticked } from '../../views/html.js'
import { sentenceOf } from '../../views/page.js'
import { facts } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { assignmentState, findingBadge, repositoryName } from './words.js'

/** Agents that the form offers. */
const maxAgents = 200

async function show(visit: Visit): Promise<Shown | string> {
  if (visit.query.path === undefined) return paths.manifest_files()
  const { read, may } = visit.api
  const file = await fileOf(visit)
  const { repo_id, path } = file
  const filter = { repo_id: String(repo_id), manifest_path: path, limit: '200' }
  const [repository, { assignments }, found] = await Promise.all([
    read('repository', api`/api/v1/repos/${repo_id}`),
    read('assignment-list', '/api/v1/assignments', filter),
    read('agent-list', '/api/v1/agents', { active: 'true', limit: String(maxAgents) }),
  ])
  const content = page({
    facts: factsOf(file, link(paths.repository(repo_id), repositoryName(repository))),
    findings: file.findings.map(({ severity, message, line, column }) => ({
      severity: findingBadge(severity),
      message: ticked(message),
      at: `line ${line}, column ${column}`,
    })),
    assignments: assignments.map(assignedOf),
    form: file.valid && may('post', '/api/v1/assignments') ? formOf(visit, found, assignments) : '',
    invalid: !file.valid,
  })
  return { title: file.name ?? path, place: 'manifests', content: content.toHTML() }
}

const page = piece(`<div class="row"><div class="col-xl-8">
{{#if findings}}<section class="card"><div class="card-header"><h2 class="card-title">Findings</h2></div><ul class="list-group list-group-flush">
{{#each findings}}<li class="list-group-item">{{severity}} <span class="lines"><bdi>{{message}}</bdi></span> <span class="text-secondary">{{at}}</span></li>{{/each}}</ul></section>{{/if}}
<section class="card"><div class="card-header"><h2 class="card-title">Agents that have it</h2></div>
{{#if assignments}}<table class="table rows"><thead><tr><th scope="col">Agent</th><th scope="col">In force</th><th scope="col">Status</th><th scope="col"><span class="visually-hidden">Assignment</span></th></tr></thead><tbody>
{{#each assignments}}<tr><td data-label="Agent">{{agent}}</td><td data-label="In force">{{version}}</td><td data-label="Status">{{status}}</td><td data-label="Assignment">{{open}}</td></tr>
{{/each}}</tbody></table>{{else}}<div class="empty-state">No agent has this manifest.{{#if form}} Choose agents below.{{/if}}</div>{{/if}}</section>
{{#if invalid}}<p>A manifest with errors cannot be assigned: push a correction to its branch first.</p>{{/if}}{{form}}
</div><div class="col-xl-4"><section class="card"><div class="card-body">{{facts}}</div></section></div></div>
`)

/** The manifest that the address names. Rejects with NOT_FOUND. */
async function fileOf({ api: { read }, query }: Visit): Promise<ListedManifest> {
  const { repo_id = '', path = '' } = query
  const own = api`/api/v1/repos/${repo_id}/manifests`
  const { manifests } =
    repo_id === '' || path === '' ? { manifests: [] } : await read('manifest-list', own, { path, limit: '1' })
  const [file] = manifests
  if (file === undefined)
    throw new PlatformError('NOT_FOUND', 'this manifest is not in the branch: it was renamed or deleted')
  return file
}

function factsOf({ path, version, policies, blob_sha, size }: ListedManifest, repository: Html) {
  return facts(
    [
      ['Repository', repository],
      ['File', text(path)],
      ['Version in the file', text(version ?? 'not given')],
      ['Version in Git', hash(blob_sha)],
      ['Valid policies', text(number(policies))],
      ['Size', text(`${number(size)} bytes`)],
    ],
    'narrow',
  )
}

function assignedOf(assignment: Assignment) {
  const { id, agent_id, agent_key, agent_name, manifest_sha } = assignment
  return {
    agent: link(paths.agent(agent_id), agent_name || agent_key),
    version: hash(manifest_sha),
    status: assignmentState(assignment),
    open: link(paths.assignment(id), 'open'),
  }
}

/** The active agents that lack the manifest. */
function formOf(
  { csrf, form: sent }: Visit,
  { agents, total }: { readonly agents: readonly Agent[]; readonly total: number },
  assignments: readonly Assignment[],
): Html {
  const having = new Set(assignments.map(({ agent_id }) => agent_id))
  const others = agents.filter(({ agent_id }) => !having.has(agent_id))
  return form({
    csrf,
    agents: others.map((agent) => ({
      agent_id: agent.agent_id,
      name: nameOf(agent),
      key: agent.agent_key,
      environment: agent.environment,
      on: sent.agent?.includes(agent.agent_id) === true,
    })),
    keep: field(sent, 'pin') === 'task',
    more: total > agents.length ? `The first ${maxAgents} of ${number(total)} agents are shown.` : '',
  })
}

const form =
  piece(`<form class="card" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-header"><h2 class="card-title">Assign to agents</h2></div>
{{#if agents}}<div class="card-body"><fieldset class="mb-3"><legend class="form-label">Agents</legend>
{{#each agents}}<label class="form-check"><input class="form-check-input" type="checkbox" name="agent" value="{{agent_id}}"{{#if on}} checked{{/if}}><span class="form-check-label"><bdi>{{name}}</bdi> <span class="text-secondary"><bdi>{{key}}</bdi>, {{environment}}</span></span></label>{{/each}}</fieldset>
{{#if more}}<p class="text-secondary">{{more}}</p>{{/if}}
<label class="form-check"><input class="form-check-input" type="checkbox" name="pin" value="task"{{#if keep}} checked{{/if}}><span class="form-check-label">A running task keeps the version that it began with</span></label>
<p>The policies take effect at once, and the assignment then follows the branch.</p>
<button class="btn btn-primary" name="act" value="assign">Assign</button></div>{{else}}<div class="empty-state">Every active agent has this manifest.</div>{{/if}}</form>
`)

/** Assigns the manifest to each chosen agent; names those that it could not be put on, with the reason. */
const assign: Act = async (visit, form) => {
  const agent_ids = [...new Set(form.agent ?? [])]
  if (agent_ids.length === 0) throw new PlatformError('INVALID', 'no agent is selected: tick the boxes of some agents')
  const { repo_id, path } = await fileOf(visit)
  const pin = field(form, 'pin') === 'task' ? 'task' : null
  const failed: { agent: Html; why: string }[] = []
  for (const agent_id of agent_ids) {
    const body = { agent_id, repo_id, manifest_path: path, pin }
    try {
      await visit.api.change('made-assignment', 'post', '/api/v1/assignments', body)
    } catch (error) {
      if (!(error instanceof PlatformError) || ['UNAVAILABLE', 'INTERNAL', 'FORBIDDEN'].includes(error.code))
        throw error
      failed.push({ agent: link(paths.agent(agent_id), agent_id), why: sentenceOf(error.message) })
    }
  }
  if (failed.length === 0) return visit.here
  const content = result({
    done: number(agent_ids.length - failed.length),
    all: number(agent_ids.length),
    failed,
    back: visit.here,
  })
  return { title: 'Assign a manifest', place: 'manifests', content: content.toHTML() }
}

const result =
  piece(`<section class="card"><div class="card-body"><p>Assigned to {{done}} of {{all}} agents. It was not put on these:</p>
<ul>{{#each failed}}<li>{{agent}} <bdi>{{why}}</bdi></li>{{/each}}</ul><a class="btn" href="{{back}}">Back to the manifest</a></div></section>
`)

export const filePage: DashboardPage = { path: '/manifests/file', show, acts: { assign } }

// The page of a connected repository: its branch, its access, its webhook, and the way out.
import type { Repository } from '@svc/schemas'
import type { DashboardPage } from '../../page.js'
import { address, api, paths } from '../../paths.js'
import { peopleOf } from '../../people.js'
import { countedOrNone, type Html, hash, joined, link, piece, text, time } from '../../views/html.js'
import { facts, question } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { conditionsView, repositoryName, repositoryState } from './words.js'

async function show(visit: Visit): Promise<Shown> {
  const { api: platform, params, query } = visit
  const path = api`/api/v1/repos/${params.id ?? ''}`
  const repository = await platform.read('repository', path)
  const [files, assignments, nameOf] = await Promise.all([
    platform.read('manifest-list', `${path}/manifests`, { limit: '1' }),
    platform.read('assignment-list', '/api/v1/assignments', { repo_id: String(repository.id), limit: '1' }),
    peopleOf(visit),
  ])
  if (query.do === 'remove' && platform.may('delete', path)) return removal(visit, repository, assignments.total)
  const { id, provider, last_commit_sha, last_checked_at, created_at, created_by } = repository
  const known: readonly (readonly [string, Html])[] = [
    [
      'Address',
      text(
        repository.url ??
          (provider === 'github' ? `https://github.com/${repositoryName(repository)}` : 'part of the platform'),
      ),
    ],
    ['Branch', text(repository.branch)],
    ['Visibility', text(repository.visibility)],
    ['Commit', last_commit_sha === null ? text('not read yet') : hash(last_commit_sha)],
    ['Last read', last_checked_at === null ? text('not yet') : time(last_checked_at)],
    ['Manifests', link(paths.manifest_files({ repo_id: id }), countedOrNone(files.total, 'file'))],
    ['Assignments', link(paths.manifests({ repo_id: id }), countedOrNone(assignments.total, 'assignment'))],
    ['Access', text(accessOf(repository))],
    ['Webhook', text(repository.has_webhook ? 'a secret exists' : 'none')],
    ['Connected', joined([time(created_at), text('by'), nameOf(created_by)])],
  ]
  const isRemote = provider !== 'bundled'
  const content = view({
    state: repositoryState(repository),
    conditions: conditionsView(repository.conditions),
    csrf: visit.csrf,
    facts: facts(known),
    resync: platform.may('post', `${path}/resync`),
    token: isRemote && platform.may('patch', path),
    webhook: isRemote && platform.may('post', `${path}/webhook-secret`),
    has_webhook: repository.has_webhook,
    remove: platform.may('delete', path) ? address(visit.path, { do: 'remove' }) : '',
  })
  return { title: repositoryName(repository), place: 'manifests', content: content.toHTML() }
}

function accessOf({ installation_id, has_token, provider }: Repository): string {
  if (provider === 'bundled') return 'not needed'
  if (installation_id !== null) return 'by the GitHub App'
  return has_token ? 'by an access token' : 'public, without a token'
}

const view = piece(`<p class="mb-2">{{state}}</p>{{conditions}}
<div class="row"><div class="col-xl-7"><section class="card"><div class="card-body">{{facts}}</div></section></div>
<div class="col-xl-5 no-print">{{#if resync}}<form class="card" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-body"><h2 class="h3">Read the branch now</h2>
<p>As the timer does: a version that removes protection waits for an approval.</p><button class="btn btn-primary" name="act" value="resync">Read now</button></div></form>{{/if}}
{{#if webhook}}<form class="card" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-body"><h2 class="h3">Webhook</h2>
<p>With a webhook at the Git host, a push is read at once.{{#if has_webhook}} A new secret replaces the present one: the webhook at the host must get it.{{/if}}</p>
<button class="btn" name="act" value="webhook">{{#if has_webhook}}Replace the secret{{else}}Make a secret{{/if}}</button></div></form>{{/if}}
{{#if token}}<form class="card" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-body"><h2 class="h3">Access token</h2>
<label class="form-label" for="token">New token, which can only read</label><div class="d-flex gap-2"><input class="form-control" id="token" name="token" type="password" maxlength="1000" autocomplete="off" required>
<button class="btn" name="act" value="token">Replace</button></div></div></form>{{/if}}
{{#if remove}}<p><a class="btn btn-outline-danger" href="{{remove}}">Disconnect…</a></p>{{/if}}</div></div>
`)

/** A repository whose manifests are assigned cannot be disconnected: the page leads to these assignments. */
function removal(visit: Visit, repository: Repository, assigned: number): Shown {
  const { id, provider } = repository
  const content =
    assigned === 0
      ? question(visit, {
          title: 'Disconnect this repository?',
          effects: [
            provider === 'bundled'
              ? 'Its manifests can no longer be assigned.'
              : 'The branch is no longer read, and its access token and webhook secret are deleted.',
            'No agent changes: none of its manifests is assigned.',
            'You can connect it again.',
          ],
          act: 'remove',
          button: 'Disconnect',
          back: paths.repository(id),
        })
      : assignedView({
          assigned: link(paths.manifests({ repo_id: id }), countedOrNone(assigned, 'assignment')),
          back: paths.repository(id),
        })
  return { title: repositoryName(repository), place: 'manifests', content: content.toHTML() }
}

const assignedView =
  piece(`<section class="card"><div class="card-body"><p>Its manifests still govern agents: remove the {{assigned}} first, then disconnect it.</p>
<a class="btn" href="{{back}}">Back to the repository</a></div></section>
`)

const resync: Act = async ({ api: { change }, params, path }) => {
  await change('repository', 'post', api`/api/v1/repos/${params.id ?? ''}/resync`)
  return path
}

const token: Act = async ({ api: { change }, params, path }, form) => {
  await change('repository', 'patch', api`/api/v1/repos/${params.id ?? ''}`, { token: field(form, 'token').trim() })
  return path
}

/** Shows the secret, once. */
const webhook: Act = async ({ api: { change, read }, params, path }) => {
  const own = api`/api/v1/repos/${params.id ?? ''}`
  const repository = await read('repository', own)
  const { url, secret } = await change('webhook-secret', 'post', `${own}/webhook-secret`)
  const content = secretView({ url, secret, back: path })
  return { title: `Webhook of ${repositoryName(repository)}`, place: 'manifests', content: content.toHTML() }
}

const secretView =
  piece(`<div class="alert alert-warning" role="status">The secret is shown only now. Add the webhook at the Git host before you leave this page.</div>
<section class="card"><div class="card-body"><dl class="facts"><dt>Address</dt><dd><span class="id"><code>{{url}}</code><button type="button" class="copy" data-copy="{{url}}" aria-label="Copy the address" hidden></button></span></dd>
<dt>Secret</dt><dd><span class="id"><code>{{secret}}</code><button type="button" class="copy" data-copy="{{secret}}" aria-label="Copy the secret" hidden></button></span></dd></dl>
<h2 class="h3 mt-3">At the host</h2><ul><li>GitHub: Payload URL, content type <code>application/json</code>, Secret, only the <code>push</code> event.</li>
<li>GitLab: URL, Secret token, trigger “Push events”.</li><li>Gitea and Forgejo: Target URL, method POST, <code>application/json</code>, Secret, “Push events”.</li></ul>
<a class="btn" href="{{back}}">Back to the repository</a></div></section>
`)

const remove: Act = async ({ api: { change }, params }) => {
  await change(null, 'delete', api`/api/v1/repos/${params.id ?? ''}`)
  return paths.repositories()
}

export const repositoryPage: DashboardPage = {
  path: '/manifests/repositories/:id',
  show,
  acts: { resync, token, webhook, remove },
}

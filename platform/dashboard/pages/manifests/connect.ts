// The form that connects a repository.
import { PlatformError } from '../../../errors.js'
import type { DashboardPage } from '../../page.js'
import { paths } from '../../paths.js'
import { piece } from '../../views/html.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'

async function show({ api: { may, read }, csrf, form }: Visit): Promise<Shown> {
  if (!may('post', '/api/v1/repos'))
    return { title: 'Connect a repository', place: 'manifests', content: forbidden({}).toHTML() }
  const { total } = await read('repository-list', '/api/v1/repos', { provider: 'bundled', limit: '1' })
  const content = view({
    csrf,
    url: field(form, 'url'),
    branch: field(form, 'branch'),
    library: total === 0,
    back: paths.repositories(),
  })
  return { title: 'Connect a repository', place: 'manifests', content: content.toHTML() }
}

const forbidden = piece('<p>Your role may not connect repositories: ask an owner or admin of the workspace.</p>')

const view =
  piece(`<form class="card narrow" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-body">
<div class="mb-3"><label class="form-label" for="url">Address of the repository</label>
<input class="form-control" id="url" name="url" value="{{url}}" maxlength="500" placeholder="https://github.com/acme/policies" autocomplete="off" required></div>
<div class="mb-3"><label class="form-label" for="branch">Branch; empty for the default branch</label>
<input class="form-control" id="branch" name="branch" value="{{branch}}" maxlength="200" autocomplete="off"></div>
<div class="mb-3"><label class="form-label" for="token">Access token, only for a private repository</label>
<input class="form-control" id="token" name="token" type="password" maxlength="1000" autocomplete="off" aria-describedby="token-note">
<small class="form-hint" id="token-note">Use a token that can only read. It is stored encrypted and not shown again. A repository of the GitHub App needs none.</small></div>
<p>The branch is read now, every five minutes unless the operator has set another time, and after each push once a webhook is set up. Nothing is assigned by connecting.</p>
<div class="btn-list"><button class="btn btn-primary" name="act" value="connect">Connect</button><a class="btn" href="{{back}}">Cancel</a></div></div></form>
{{#if library}}<form class="card narrow" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-body bar mb-0"><div class="grow"><h2 class="h3 mb-1">Bundled library</h2>Manifests that come with the platform, at the version of the platform.</div>
<button class="btn" name="act" value="library">Connect the library</button></div></form>{{/if}}
`)

const connect: Act = async ({ api: { change } }, form) => {
  const [url, branch, token] = ['url', 'branch', 'token'].map((name) => field(form, name).trim())
  if (!url) throw new PlatformError('INVALID', 'the address of the repository is missing')
  const body = { url, ...(branch && { branch }), ...(token && { token }) }
  const { id } = await change('repository', 'post', '/api/v1/repos', body)
  return paths.repository(id)
}

const library: Act = async ({ api: { change } }) => {
  const { id } = await change('repository', 'post', '/api/v1/repos', { library: true })
  return paths.repository(id)
}

export const connectPage: DashboardPage = { path: '/manifests/repositories/connect', show, acts: { connect, library } }

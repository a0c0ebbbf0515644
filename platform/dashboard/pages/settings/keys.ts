// Settings, API keys: a new secret is shown once, with the commands that use it.
import type { ApiKey, MadeApiKey } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import type { DashboardPage } from '../../page.js'
import { address, api, paths } from '../../paths.js'
import { badge, type Html, id, piece, text, time } from '../../views/html.js'
import { card, copyable, type Question, question, table } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { settings } from './settings.js'

const endpoint = '/auth/api-keys'

async function show(visit: Visit): Promise<Shown> {
  const { api_keys } = await visit.api.read('api-key-list', endpoint)
  const { confirm, id: wanted } = visit.query
  const key = api_keys.find((one) => one.id === wanted)
  if (confirm !== undefined && key !== undefined) {
    const asked = confirm === 'roll' ? rolling(key) : revoking(key)
    return settings(visit, 'keys', question(visit, asked))
  }
  const state = (one: ApiKey) => stateOf(one, visit.now)
  const list = table<ApiKey>(
    'API keys',
    [
      { head: 'Key', cell: (one) => named({ name: one.name, id: id(one.id, paths.events({ subject: one.id })) }) },
      { head: 'State', cell: (one) => badge(state(one), state(one) === 'active' ? 'green' : 'secondary') },
      { head: 'Scopes', cell: ({ scopes }) => text(scopes.join(', ')) },
      { head: 'Created', cell: ({ created_at }) => time(created_at) },
      { head: 'Valid until', cell: ({ expires_at }) => (expires_at === null ? text('no end') : time(expires_at)) },
      { head: 'Last used', cell: ({ last_used_at }) => (last_used_at === null ? text('never') : time(last_used_at)) },
      { head: 'Change', cell: (one) => buttons(one, state(one)) },
    ],
    api_keys,
    'No API key was created yet. Create one below: agents use it to register and to send their steps.',
  )
  return settings(visit, 'keys', card('API keys', list), card('Create a key', creation(visit)))
}

const named = piece('<bdi>{{name}}</bdi><span class="d-block small">{{id}}</span>')

type KeyState = 'active' | 'expired' | 'revoked'

function stateOf({ revoked_at, expires_at }: ApiKey, now: number): KeyState {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'active'
}

function buttons({ id: key_id, name }: ApiKey, state: KeyState): Html {
  const to = (confirm: string) => address(paths.keys(), { confirm, id: key_id })
  return buttonsView({
    name,
    roll: state === 'active' ? to('roll') : '',
    revoke: state === 'revoked' ? '' : to('revoke'),
  })
}

const buttonsView =
  piece(`<div class="btn-list flex-nowrap">{{#if roll}}<a class="btn btn-sm" href="{{roll}}" aria-label="Roll the key {{name}}">Roll …</a>{{/if}}
{{#if revoke}}<a class="btn btn-sm btn-outline-danger" href="{{revoke}}" aria-label="Revoke the key {{name}}">Revoke …</a>{{/if}}</div>`)

const scopes = [
  ['ingest', 'register agents, send steps, traces and incidents'],
  ['read', 'read policies, agents and the entries of its own tasks'],
] as const

function creation({ csrf, form }: Visit): Html {
  const isSent = field(form, 'act') === 'create'
  return create({
    csrf,
    name: field(form, 'name'),
    expires: field(form, 'expires'),
    scopes: scopes.map(([name, may]) => ({ name, may, on: !isSent || form.scopes?.includes(name) === true })),
  })
}

const create = piece(`<form method="post" class="narrow-form"><input type="hidden" name="csrf" value="{{csrf}}">
<div class="mb-3"><label class="form-label" for="name">Name, such as the program that uses it</label>
<input class="form-control" id="name" name="name" value="{{name}}" maxlength="100" required autocomplete="off"></div>
<fieldset class="mb-3"><legend class="form-label">Scopes</legend>{{#each scopes}}<label class="form-check"><input class="form-check-input" type="checkbox" name="scopes" value="{{name}}"{{#if on}} checked{{/if}}><span class="form-check-label"><strong>{{name}}</strong>: {{may}}</span></label>{{/each}}</fieldset>
<div class="mb-3"><label class="form-label" for="expires">Last day (UTC), empty for a key without an end</label>
<input class="form-control" id="expires" name="expires" type="date" value="{{expires}}"></div>
<button class="btn btn-primary" name="act" value="create">Create the key</button></form>`)

function rolling({ id: key_id, name }: ApiKey): Question {
  return {
    title: `Roll the key ${name}?`,
    effects: [
      'The key gets a new secret, which is shown once.',
      'The old secret stops working within a second: programs that use it are rejected until they have the new one.',
      'The id of the key stays, and with it its agents and tasks.',
    ],
    act: 'roll',
    button: 'Roll the key',
    back: paths.keys(),
    fields: { key_id },
  }
}

function revoking({ id: key_id, name }: ApiKey): Question {
  return {
    title: `Revoke the key ${name}?`,
    effects: [
      'Programs that use the key are rejected within a second.',
      'Its agents and tasks cannot continue with another key. To replace only the secret, roll the key.',
      'A revoked key cannot be used again. Recorded steps stay in the log.',
    ],
    act: 'revoke',
    button: 'Revoke the key',
    back: paths.keys(),
    fields: { key_id },
  }
}

/** The only page with the secret. */
function made(visit: Visit, { api_key, key }: MadeApiKey, title: string): Shown {
  const { url } = visit
  const shown = secret({
    key: copyable('the API key', key),
    steps: firstSteps(url, key, api_key).map(([heading, commands]) => ({
      heading,
      commands: copyable(heading, commands),
    })),
    id: id(api_key.id),
    back: paths.keys(),
  })
  return settings(visit, 'keys', card(title, shown))
}

const secret =
  piece(`<div class="alert alert-warning" role="status"><span>Copy the key now: it is shown only once. Keep it where your other secrets are.</span></div>
{{key}}<p class="text-secondary">Id of the key: {{id}}</p>
{{#each steps}}<h3 class="h4 mt-3">{{heading}}</h3>{{commands}}{{/each}}
<p class="mt-3 mb-0"><a class="btn btn-primary" href="{{back}}">I have copied the key</a></p>`)

/** Commands that the scopes of the key allow. */
function firstSteps(url: string, key: string, { scopes: allowed }: ApiKey): (readonly [string, string])[] {
  const agent = '{"agent_key":"my-agent","owner_id":"me","purpose":"a first try"}'
  const register = `curl -s ${url}/api/v1/agents -H "Authorization: Bearer ${key}" \\\n  -H 'Content-Type: application/json' -d '${agent}'`
  const serve = `export SVC_API_URL=${url} SVC_AGENT_KEY=my-agent\nexport SVC_API_KEY=${key}\nnpx --no-install svc serve`
  return [
    ...(allowed.includes('ingest') ? [['Register an agent', register] as const] : []),
    ...(allowed.includes('read') ? [['Start the engine with the policies of the agent', serve] as const] : []),
  ]
}

const createKey: Act = async (visit, form) => {
  if ((form.scopes ?? []).length === 0) throw new PlatformError('INVALID', 'the key has no scope: choose one or both')
  const day = field(form, 'expires')
  const request = {
    name: field(form, 'name'),
    scopes: form.scopes,
    expires_at: day === '' ? null : `${day}T23:59:59Z`,
  }
  const key = await visit.api.change('made-api-key', 'post', endpoint, request)
  return made(visit, key, `The key ${key.api_key.name} is created`)
}

const rollKey: Act = async (visit, form) => {
  const key = await visit.api.change('made-api-key', 'post', api`/auth/api-keys/${field(form, 'key_id')}/roll`)
  return made(visit, key, `The key ${key.api_key.name} has a new secret`)
}

const revokeKey: Act = async (visit, form) => {
  await visit.api.change('api-key', 'post', api`/auth/api-keys/${field(form, 'key_id')}/revoke`)
  return paths.keys()
}

export const keysPage: DashboardPage = {
  path: '/settings/keys',
  show,
  acts: { create: createKey, roll: rollKey, revoke: revokeKey },
}

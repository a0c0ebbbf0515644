// Settings, Settings file: the settings as YAML to download, and a file that is compared with the workspace and then applied.
import type { SettingsChange, SettingsComparison, SettingsResult } from '@svc/schemas'
import type { FieldError } from '../../../errors.js'
import type { DashboardPage } from '../../page.js'
import { paths } from '../../paths.js'
import { fieldView } from '../../views/fields.js'
import { badge, counted, type Html, id, nothing, piece, text, ticked } from '../../views/html.js'
import { sentenceOf } from '../../views/page.js'
import { card, table } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { settings } from './settings.js'

const endpoint = '/api/v1/settings'

async function show(visit: Visit): Promise<Shown> {
  return settings(visit, 'file', card('Download', download({ href: `${endpoint}?format=yaml` })), compareCard(visit))
}

const download =
  piece(`<p>The settings of this workspace that can be stated by value, as one YAML file: retention, actions and saved views of lists. Keep it in
Git, or apply it to another workspace. It has no secrets, and no people, API keys, holds, stops, agents or repositories.</p>
<p>Policies are not settings: keep them in manifests, and assign these to agents. Policies that were written here are not in the file either.</p>
<a class="btn btn-primary" href="{{href}}" download>Download the settings</a>`)

/** The form of a file; after an error, with what is wrong at its lines. */
function compareCard({ csrf, form, errors }: Visit): Html {
  const hint = 'What the file leaves out stays as it is. Nothing changes before you have seen what would change.'
  const about = { name: 'text', label: 'Settings as YAML', kind: 'lines', required: true, hint, rows: 12 } as const
  return card('Compare a file', compareView({ csrf, field: fieldView(about, form.text ?? [], errors.map(atLine)) }))
}

const compareView = piece(`<form method="post"><input type="hidden" name="csrf" value="{{csrf}}">{{field}}
<button class="btn btn-primary" name="act" value="compare">Compare with the workspace</button></form>`)

/** An error of the file as one of the field that it was pasted into. */
function atLine({ path, message, line }: FieldError): FieldError {
  if (line === undefined) return { path, message }
  const name = path === 'text' || path === '' ? '' : `, \`${path.replaceAll(/\.(\d+)/g, '[$1]')}\``
  return { path: 'text', message: `line ${line}${name}: ${message}` }
}

const compare: Act = async (visit, form) => {
  const sent = { text: field(form, 'text') }
  const comparison = await visit.api.change('settings-comparison', 'post', `${endpoint}/compare`, sent)
  return settings(visit, 'file', card('What would change', comparisonOf(visit, comparison)), compareCard(visit))
}

function comparisonOf({ api: { may }, csrf, form }: Visit, comparison: SettingsComparison): Html {
  const { digest, changes, left_alone, notes, unchanged } = comparison
  return comparisonView({
    csrf,
    digest,
    typed: field(form, 'text'),
    notes: notes.map((note) => ticked(sentenceOf(note))),
    changes: changesTable(changes),
    same:
      unchanged === 0 || changes.length === 0
        ? ''
        : `${counted(unchanged, 'setting of the file is', 'settings of the file are')} like this already.`,
    left: left_alone.map((one) => ({ name: settingName(one) })),
    may_apply: may('post', `${endpoint}/apply`),
    has_changes: changes.length > 0,
    is_final: changes.some(isShorter),
    button: `Apply ${counted(changes.length, 'change')}`,
    back: paths.settings_file(),
  })
}

const comparisonView = piece(`{{#each notes}}<p>{{this}}</p>{{/each}}{{changes}}
{{#if same}}<p class="mt-3 mb-0">{{same}}</p>{{/if}}
{{#if left}}<h3 class="h4 mt-3">Left alone, because the file does not state them</h3><ul class="mb-0">{{#each left}}<li>{{name}}</li>{{/each}}</ul>{{/if}}
{{#if has_changes}}{{#if may_apply}}<form class="mt-3" method="post"><input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="text" value="{{typed}}"><input type="hidden" name="digest" value="{{digest}}">
<div class="btn-list"><button class="btn {{#if is_final}}btn-danger{{else}}btn-primary{{/if}}" name="act" value="apply">{{button}}</button><a class="btn" href="{{back}}">Cancel</a></div></form>
{{else}}<p class="mt-3 mb-0">Only owners and admins apply settings.</p>{{/if}}{{/if}}`)

function changesTable(changes: readonly SettingsChange[]): Html {
  return table<SettingsChange>(
    'Changes',
    [
      { head: 'Setting', cell: settingName },
      {
        head: 'Change',
        cell: ({ change }) =>
          badge(change === 'create' ? 'created' : 'changed', change === 'create' ? 'green' : 'blue'),
      },
      { head: 'Values', cell: (one) => (one.kind === 'retention' ? text(sentenceOf(one.sentence)) : membersOf(one)) },
    ],
    changes,
    'Nothing: the workspace has these settings already.',
  )
}

const lists: Readonly<Record<string, string>> = { logs: 'steps', incident_groups: 'incident groups' }

function settingName({ kind, name, list }: Pick<SettingsChange, 'kind' | 'name' | 'list'>): Html {
  if (kind === 'retention') return text('Retention of entries')
  const what = kind === 'action' ? 'Action' : `View of ${lists[list ?? ''] ?? list}`
  return named({ what, name })
}

const named = piece('{{what}} <strong><bdi>{{name}}</bdi></strong>')

const labels: Readonly<Record<string, string>> = {
  kind: 'Kind',
  on: 'When',
  min_severity: 'Severity',
  agent_ids: 'Agents',
  policy_ids: 'Policies',
  config: 'Receiver',
  enabled: 'Enabled',
  query: 'Filters',
}

function membersOf({ change, members }: SettingsChange): Html {
  const is_new = change === 'create'
  const shown = members.filter(({ to }) => !is_new || !(to === null || to === true))
  const rows = shown.map(({ name, from, to }) => {
    const [before, after] = [valueText(name, from), valueText(name, to)]
    // A new address can look like the one before it: its secret parts are left out.
    return { label: labels[name] ?? name, before, after, is_new, isHidden: !is_new && before === after }
  })
  return membersView({ rows })
}

const membersView = piece(
  '{{#each rows}}<div>{{label}}: {{#if is_new}}<bdi>{{after}}</bdi>{{else if isHidden}}another address, of which <bdi>{{after}}</bdi> is shown{{else}}<bdi>{{before}}</bdi> → <bdi>{{after}}</bdi>{{/if}}</div>{{/each}}',
)

/** A value of the API in words. */
function valueText(name: string, value: unknown): string {
  if (value === null) return name === 'min_severity' ? 'every' : 'all'
  if (name === 'min_severity') return value === 'critical' ? 'critical only' : `${value} or higher`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.join(', ')
  if (name === 'query') return [...new URLSearchParams(String(value))].map((pair) => pair.join('=')).join(' & ')
  if (typeof value !== 'object') return String(value)
  const { url, to = [] } = value as { readonly url?: string; readonly to?: readonly string[] }
  return url ?? to.join(', ')
}

function isShorter({ kind, members: [days] }: SettingsChange): boolean {
  return kind === 'retention' && Number(days?.to) < Number(days?.from)
}

const apply: Act = async (visit, form) => {
  const sent = { text: field(form, 'text'), digest: field(form, 'digest') }
  const result = await visit.api.change('settings-result', 'post', `${endpoint}/apply`, sent)
  return settings(visit, 'file', card('Applied', appliedOf(result)))
}

/** The only page with the secrets of new webhooks. */
function appliedOf({ changes, made }: SettingsResult): Html {
  const secrets = made.flatMap(({ action, secret }) =>
    secret === null ? [] : [{ name: action.name, secret: id(secret) }],
  )
  return appliedView({
    secrets: secrets.length > 0 ? secretsView({ secrets }) : nothing,
    changes: changesTable(changes),
    back: paths.settings_file(),
    button: secrets.length > 0 ? 'I have stored the secrets' : 'Back to the settings file',
  })
}

const appliedView = piece(
  '{{secrets}}{{changes}}<p class="mt-3 mb-0"><a class="btn btn-primary" href="{{back}}">{{button}}</a></p>',
)

const secretsView =
  piece(`<div class="alert alert-warning" role="status"><span>Requests of new webhooks are signed with these secrets. Give them to the receivers: they are shown only now.</span></div>
<dl class="facts mb-3">{{#each secrets}}<dt><bdi>{{name}}</bdi></dt><dd>{{secret}}</dd>{{/each}}</dl>`)

export const filePage: DashboardPage = { path: '/settings/file', show, acts: { compare, apply } }

// The list of actions.
import type { Action } from '@svc/schemas'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { badge, counted, type Html, joined, link, piece, severity, text, time } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { kindLabels, kinds, triggerLabel } from './words.js'

export const actions: Listing<Action> = {
  place: 'actions',
  title: 'Alerts and webhooks',
  path: '/actions',
  schema: 'action-list',
  rows: 'actions',
  endpoint: '/api/v1/actions',
  filters: [
    { kind: 'choice', name: 'kind', label: 'Kind', values: kinds },
    {
      kind: 'choice',
      name: 'enabled',
      label: 'State',
      values: [
        ['true', 'enabled'],
        ['false', 'disabled'],
      ],
    },
  ],
  presets: [
    ['Enabled', { enabled: 'true' }],
    ['Disabled', { enabled: 'false' }],
  ],
  columns: [
    { head: 'Action', cell: ({ id, name }) => link(paths.action(id), name) },
    { head: 'Kind', cell: ({ kind }) => text(kindLabels[kind]) },
    { head: 'Receiver', cell: receiverText },
    {
      head: 'Triggers',
      cell: ({ on }) => text(on.map(triggerLabel).join('; ')),
    },
    {
      head: 'Severity',
      cell: ({ min_severity }) => (min_severity === null ? text('every') : severityFrom(min_severity)),
    },
    { head: 'State', cell: stateBadges },
    { head: 'Changed', cell: ({ updated_at }) => time(updated_at) },
  ],
  empty:
    'No action is here yet. An action tells people and programs about incidents: create the first one with the button above.',
  above,
}

/** The address of a webhook without its secret parts, or the addresses of people. */
export function receiverText({ config: { url, to = [] } }: Action): Html {
  return url === undefined
    ? joined(
        to.map((address) => text(address)),
        ', ',
      )
    : text(url)
}

export function stateBadges({ enabled, receiver: { failures } }: Action): Html {
  if (!enabled) return badge('disabled')
  return failures === 0
    ? badge('enabled', 'green')
    : joined([badge('enabled', 'green'), badge(counted(failures, 'failed attempt'), 'red')])
}

/** The lowest severity of incidents that trigger the action. */
function severityFrom(value: string): Html {
  return joined([severity(value), text(value === 'critical' ? 'only' : 'or higher')])
}

async function above({ api: { may } }: Visit): Promise<Html> {
  return top({ href: may('post', '/api/v1/actions') ? paths.new_action() : '' })
}

const top =
  piece(`<p>Messages that the platform sends when something happens in the workspace: to a webhook, by mail or to Slack. The API calls them actions.</p>
{{#if href}}<p class="no-print"><a class="btn btn-primary" href="{{href}}">Create an action</a></p>{{/if}}
`)

export const actionsPage = listPage(actions)

// The frame around the pages of a signed-in person: navigation, title, message.
import { addresses } from '../assets.js'
import { paths } from '../paths.js'
import type { Visit } from '../visit.js'
import { type Html, nothing, piece, template } from './html.js'

export type Theme = 'light' | 'dark'

interface Framed {
  readonly title: string
  readonly content: string
  readonly place?: string
  readonly message: string
  /** Null where the person of the browser is not known. */
  readonly visit: Visit | null
  /** The address of a way back. */
  readonly back?: string
  readonly theme: Theme | null
}

/** The entries of the navigation: name, label, address. */
const places = [
  ['overview', 'Overview', paths.overview],
  ['tasks', 'Tasks', paths.tasks()],
  ['approvals', 'Approvals', paths.steps({ step_type: 'step.gate' })],
  ['incidents', 'Incidents', paths.open_incidents()],
  ['agents', 'Agents', paths.agents()],
  ['policies', 'Policies', paths.policies()],
  ['manifests', 'Manifests', paths.manifests()],
  ['reports', 'Reports', paths.reports()],
  ['events', 'Audit trail', paths.events()],
  ['actions', 'Alerts and webhooks', paths.actions()],
  ['settings', 'Settings', paths.settings()],
] as const

const page = template(`<!doctype html>
<html lang="en"{{#if theme}} data-bs-theme="{{theme}}"{{/if}}>
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{{title}} · svc</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="{{tabler_css}}"><link rel="stylesheet" href="{{page_css}}">
<script src="{{page_js}}"></script><script src="{{htmx_js}}" defer></script>
</head>
<body>
<a class="visually-hidden-focusable skip" href="#content">Skip to the content</a>
{{navigation}}<main id="content" class="content" tabindex="-1">
<h1 class="page-title">{{title}}</h1>
{{#if message}}<div class="alert alert-danger lines" role="alert"><bdi>{{message}}</bdi></div>
{{/if}}{{{content}}}
{{#if back}}<p><a href="{{back}}">Open the page again</a></p>
{{/if}}</main>
</body>
</html>
`)

const navigation = piece(`<header class="side d-print-none">
<div class="side-top"><a class="brand" href="/">svc</a>
<form class="side-search" action="/search" role="search"><label class="visually-hidden" for="search">Search</label>
<input class="form-control form-control-sm" id="search" name="q" type="search" placeholder="Search" maxlength="200"></form></div>
<nav aria-label="Pages"><ul>
{{#each entries}}<li><a href="{{href}}"{{#if here}} aria-current="page"{{/if}}>{{label}}</a></li>
{{/each}}</ul></nav>
<div class="side-end"><span class="text-secondary" data-zone>Times in UTC</span><a href="{{account}}" title="{{email}}"><bdi>{{email}}</bdi></a>
<form method="post" action="/theme"><input type="hidden" name="return_to" value="{{here}}">
<button name="theme" value="{{other}}" class="btn btn-sm btn-ghost-secondary">{{other_label}}</button></form></div>
</header>
`)

/** The entry of this very address is marked, else the one of the place. */
function entriesOf({ here }: Visit, place: string | undefined) {
  const own = places.find(([, , href]) => href === here) ?? places.find(([name]) => name === place)
  return places.map((entry) => ({ label: entry[1], href: entry[2], here: entry === own }))
}

/** A whole page. */
export function frame({ visit, theme, place, back = '', ...shown }: Framed): string {
  const other = theme === 'dark' ? 'light' : 'dark'
  const values = { ...shown, ...addresses, theme, back }
  const side: Html =
    visit === null
      ? nothing
      : navigation({
          entries: entriesOf(visit, place),
          account: paths.account,
          email: visit.email,
          here: visit.here,
          other,
          other_label: `${other === 'dark' ? 'Dark' : 'Light'} colours`,
        })
  return page({ ...values, navigation: side })
}

// The tabs of the settings, and what they share.
import { paths } from '../../paths.js'
import { type Html, joined, piece } from '../../views/html.js'
import type { Shown, Visit } from '../../visit.js'

export type Tab = 'general' | 'members' | 'keys' | 'log' | 'retention'

/** The tabs that the person may open. */
export function tabs({ api: { may } }: Visit, here: Tab): Html {
  const all = [
    ['general', 'General', paths.settings()],
    ['members', 'Members', paths.members()],
    ...(may('get', '/auth/api-keys') ? ([['keys', 'API keys', paths.keys()]] as const) : []),
    ['log', 'Log', paths.log()],
    ['retention', 'Retention', paths.retention()],
  ] as const
  return tabsView({ tabs: all.map(([name, label, href]) => ({ label, href, here: name === here })) })
}

const tabsView = piece(`<nav aria-label="Settings"><ul class="nav nav-underline tabs">
{{#each tabs}}<li class="nav-item"><a class="nav-link{{#if here}} active{{/if}}" href="{{href}}"{{#if here}} aria-current="page"{{/if}}>{{label}}</a></li>
{{/each}}</ul></nav>
`)

/** A tab of the settings. */
export function settings(visit: Visit, here: Tab, ...pieces: readonly Html[]): Shown {
  return { title: 'Settings', place: 'settings', content: joined([tabs(visit, here), ...pieces], '\n').toHTML() }
}

/** The id of the workspace that the person works in. */
export function orgOf({ person }: Visit): string {
  return person.org_id ?? ''
}

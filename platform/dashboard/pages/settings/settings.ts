// The tabs of the settings, and what they share.
import { paths } from '../../paths.js'
import { type Html, joined } from '../../views/html.js'
import { tabList } from '../../views/tabs.js'
import type { Shown, Visit } from '../../visit.js'

type Tab = 'general' | 'members' | 'keys' | 'log' | 'retention' | 'file'

/** The tabs that the person may open. */
export function tabs({ api: { may } }: Visit, here: Tab): Html {
  const all = [
    ['general', 'General', paths.settings()],
    ['members', 'Members', paths.members()],
    ...(may('get', '/auth/api-keys') ? ([['keys', 'API keys', paths.keys()]] as const) : []),
    ['log', 'Log', paths.log()],
    ['retention', 'Retention', paths.retention()],
    ['file', 'Settings file', paths.settings_file()],
  ] as const
  return tabList('Settings', all, here)
}

/** A tab of the settings. */
export function settings(visit: Visit, here: Tab, ...pieces: readonly Html[]): Shown {
  return { title: 'Settings', place: 'settings', content: joined([tabs(visit, here), ...pieces], '\n').toHTML() }
}

/** The id of the workspace that the person works in. */
export function orgOf({ person }: Visit): string {
  return person.org_id ?? ''
}

// The two lists of what agents did.
import { paths } from '../../paths.js'
import type { Html } from '../../views/html.js'
import { tabList } from '../../views/tabs.js'

export function tabs(here: 'tasks' | 'steps'): Html {
  const all = [
    ['tasks', 'Tasks', paths.tasks()],
    ['steps', 'Steps', paths.steps()],
  ] as const
  return tabList('What agents did', all, here)
}

// The tabs of the pages about manifests.
import { paths } from '../../paths.js'
import type { Html } from '../../views/html.js'
import { tabList } from '../../views/tabs.js'

const all = [
  ['assignments', 'Assignments', paths.manifests()],
  ['repositories', 'Repositories', paths.repositories()],
  ['files', 'Files', paths.manifest_files()],
] as const

export function tabs(here: (typeof all)[number][0]): Html {
  return tabList('Manifests', all, here)
}

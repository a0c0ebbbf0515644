// The tabs of the pages about manifests.
import { paths } from '../../paths.js'
import { type Html, piece } from '../../views/html.js'

const all = [
  ['assignments', 'Assignments', paths.manifests()],
  ['repositories', 'Repositories', paths.repositories()],
  ['files', 'Files', paths.manifest_files()],
] as const

export function tabs(here: (typeof all)[number][0]): Html {
  return view({ tabs: all.map(([name, label, href]) => ({ label, href, here: name === here })) })
}

const view =
  piece(`<ul class="nav nav-tabs mb-3 no-print" aria-label="Manifests">{{#each tabs}}<li class="nav-item"><a class="nav-link{{#if here}} active{{/if}}" href="{{href}}"{{#if here}} aria-current="page"{{/if}}>{{label}}</a></li>{{/each}}</ul>
`)

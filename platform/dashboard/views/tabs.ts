// Tabs of a page: links, the current one marked.
import { type Html, piece } from './html.js'

/** Tabs of a name, a label and an address; `title` says what they divide. */
export function tabList(
  title: string,
  tabs: readonly (readonly [name: string, label: string, href: string])[],
  here: string,
): Html {
  return view({ title, tabs: tabs.map(([name, label, href]) => ({ label, href, here: name === here })) })
}

const view = piece(`<nav class="no-print" aria-label="{{title}}"><ul class="nav nav-underline tabs">
{{#each tabs}}<li class="nav-item"><a class="nav-link{{#if here}} active{{/if}}" href="{{href}}"{{#if here}} aria-current="page"{{/if}}>{{label}}</a></li>
{{/each}}</ul></nav>
`)

// Filters of a list without a control, such as those of a link, each with a link that removes it.
import { PlatformError } from '../../errors.js'
import type { Query } from '../../http/query.js'
import { nameOf } from '../agents.js'
import { address, api } from '../paths.js'
import { type Html, nothing, piece } from '../views/html.js'
import type { Visit } from '../visit.js'
import type { Listing, NamedFilter } from './listing.js'
import { isPreset } from './views.js'

interface Shown extends Listing<never> {
  readonly filters: readonly NamedFilter[]
}

/** The chips; nothing where a preset that is marked says the same. */
export async function chipsOf(visit: Visit, listing: Shown, filter: Query): Promise<Html> {
  const names = new Set(listing.filters.map(({ name }) => name))
  const others = Object.entries(filter).filter(([name]) => !names.has(name))
  if (others.length === 0 || isPreset(listing, filter)) return nothing
  const chip = async ([name, value]: [string, string]) => ({
    text: presetOf(listing, name, value) ?? (await textOf(visit, name, value)),
    href: address(listing.path, { ...filter, [name]: undefined }),
  })
  return chips({ chips: await Promise.all(others.map(chip)) })
}

const chips = piece(`<ul class="pills" aria-label="Further filters">{{#each chips}}<li class="badge"><bdi>{{text}}</bdi>
<a href="{{href}}" aria-label="Remove the filter {{text}}">×</a></li>{{/each}}</ul>
`)

/** The label of the preset that selects the same by itself. */
function presetOf({ presets = [] }: Listing<never>, name: string, value: string): string | undefined {
  return presets.find(([, query]) => Object.keys(query).length === 1 && query[name] === value)?.[0]
}

/** Names of the things whose ids a filter has. */
const named: Readonly<Record<string, (visit: Visit, id: string) => Promise<string | undefined>>> = {
  agent_id: async ({ api: { read } }, id) => nameOf(await read('agent', api`/api/v1/agents/${id}`)),
  policy_id: async ({ api: { read } }, id) => (await read('policy', api`/api/v1/policies/${id}`)).name,
  stop_id: async ({ api: { read } }, id) => (await read('stop', api`/api/v1/stops/${id}`)).reason,
  manifest_id: async ({ api: { read } }, id) => {
    const { policies } = await read('policy-list', '/api/v1/policies', { manifest_id: id, limit: '1' })
    return policies[0]?.manifest_name ?? undefined
  },
}

async function textOf(visit: Visit, name: string, value: string): Promise<string> {
  const found = Object.hasOwn(named, name) ? await named[name]?.(visit, value).catch(notFound) : undefined
  const label = found === undefined ? name : name.replace(/_id$/, '')
  return `${label.replaceAll('_', ' ')}: ${found ?? value}`
}

/** The list says what is wrong with a filter; an id that is not found is shown as it is. */
function notFound(error: unknown): undefined {
  if (error instanceof PlatformError && ['NOT_FOUND', 'INVALID', 'FORBIDDEN'].includes(error.code)) return undefined
  throw error
}

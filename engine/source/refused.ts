// What of a manifest is not in effect, by name and place.
import type { DroppedPolicy } from '@svc/schemas'
import type { ManifestReading } from '../manifest/parse.js'
import { readYaml } from '../manifest/read-yaml.js'

/** As many as one manifest may hold (docs/design/engine.md §4). */
const mostPolicies = 1000

export interface Refused {
  /** One row for each policy that is not in effect. */
  readonly policies: readonly DroppedPolicy[]
  /** What else is wrong and costs no policy, such as a bad waiver. */
  readonly others: readonly DroppedPolicy[]
  /** The file is not a manifest: it cannot be parsed, or it has no list of policies that could be named. */
  readonly whole: boolean
}

/**
 * One row for each policy that is not in effect, by its name; for a manifest that cannot be used these are all of its
 * policies. Errors elsewhere, such as in a waiver, cost no policy: they are named without being counted.
 */
export function refusedOf({ value, errors }: ManifestReading, text: string, file: string): Refused {
  const first = new Map<string, DroppedPolicy>()
  for (const { path, line, column, message } of errors) {
    const place = /^policies\.\d+/.exec(path)?.[0] ?? path.split('.').slice(0, 2).join('.')
    const row = { name: place === '' ? file : place, reason: message, policy_id: null, source: file, line, column }
    if (!first.has(place)) first.set(place, row)
  }
  const rows = [...first.entries()]
  const others = rows.filter(([place]) => !/^policies\.\d/.test(place)).map(([, row]) => row)
  const names = errors.length === 0 ? [] : policyNames(text)
  if (value === null && names.length === 0)
    return { policies: others.slice(0, 1), others: others.slice(1), whole: true }
  const [cause] = others
  const policies = names.flatMap((name, index) => {
    const own = first.get(`policies.${index}`)
    if (own !== undefined) return [{ ...own, name }]
    return value === null && cause !== undefined ? [{ ...cause, name }] : []
  })
  return { policies, others: value === null ? [] : others, whole: false }
}

/** What the policies of a manifest are called, as far as that can be told; more than a manifest may hold is not. */
function policyNames(text: string): string[] {
  const { policies } = (readYaml(text).value ?? {}) as { policies?: unknown }
  if (!Array.isArray(policies) || policies.length > mostPolicies) return []
  return policies.map((policy: unknown, index) => {
    const name = typeof policy === 'object' && policy !== null && 'name' in policy ? policy.name : undefined
    return typeof name === 'string' && name !== '' ? name : `policies.${index}`
  })
}

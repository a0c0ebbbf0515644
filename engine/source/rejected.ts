// The parts of a manifest that are not in effect, by name and position.
import { isMap } from '@svc/proof'
import type { DroppedPolicy, JsonMap } from '@svc/schemas'
import type { ManifestReading } from '../manifest/parse/parse.js'
import { readYaml } from '../manifest/yaml/read-yaml.js'

/** docs/design/engine.md §4. */
const maxPolicies = 1000

export interface Rejected {
  /** One row for each policy that is not in effect. */
  readonly policies: readonly DroppedPolicy[]
  /** Other invalid parts, such as a waiver. */
  readonly others: readonly DroppedPolicy[]
  /** The file is not a manifest: it cannot be parsed, or it has no list of policies. */
  readonly whole: boolean
}

/**
 * One row for each policy that is not in effect, by its name: all policies of a manifest that cannot be used. Errors in
 * other parts, such as a waiver, reject no policy and are not counted.
 */
export function rejectedOf({ value, errors }: ManifestReading, text: string, file: string): Rejected {
  const first = new Map<string, DroppedPolicy>()
  for (const { path, line, column, message } of errors) {
    const place = /^policies\.\d+/.exec(path)?.[0] ?? path.split('.').slice(0, 2).join('.')
    const row = {
      name: place === '' ? file : place,
      reason: message,
      severity: null,
      policy_id: null,
      source: file,
      line,
      column,
    }
    if (!first.has(place)) first.set(place, row)
  }
  const rows = [...first.entries()]
  const others = rows.filter(([place]) => !/^policies\.\d/.test(place)).map(([, row]) => row)
  const named = errors.length === 0 ? [] : namedPolicies(text)
  if (value === null && named.length === 0)
    return { policies: others.slice(0, 1), others: others.slice(1), whole: true }
  const [cause] = others
  const policies = named.flatMap((policy, index) => {
    const own = first.get(`policies.${index}`)
    if (own !== undefined) return [{ ...own, ...policy }]
    return value === null && cause !== undefined ? [{ ...cause, ...policy }] : []
  })
  return { policies, others: value === null ? [] : others, whole: false }
}

/** The names and severities of the policies of an invalid manifest, as far as they can be read; empty beyond the maximum. */
function namedPolicies(text: string): Pick<DroppedPolicy, 'name' | 'severity'>[] {
  const { policies } = (readYaml(text).value ?? {}) as { policies?: unknown }
  if (!Array.isArray(policies) || policies.length > maxPolicies) return []
  return policies.map((policy: unknown, index) => {
    const { name, severity } = (isMap(policy) ? policy : {}) as JsonMap
    return {
      name: typeof name === 'string' && name !== '' ? name : `policies.${index}`,
      severity: /^(low|medium|high|critical)$/.test(String(severity)) ? String(severity) : null,
    }
  })
}

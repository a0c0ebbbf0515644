// The members of a policy in a request, by their names in a manifest: other names are replaced, null is as if it was left out.
import { canonical } from '@svc/proof'
import type { JsonMap, Policy } from '@svc/schemas'
import type { FieldError } from '../../errors.js'

/** The members of a policy that people write; the platform adds the others. */
export const writtenMembers = [
  'name',
  'rule_type',
  'params',
  'scope',
  'severity',
  'description',
  'risk_classification',
  'agent_id',
  'enabled',
  'mode',
  'approval',
  'controls',
] as const

export type WrittenPolicy = Pick<Policy, (typeof writtenMembers)[number]>

/** A policy that no manifest has. */
export const byHand = {
  manifest_id: null,
  manifest_name: null,
  manifest_repo: null,
  manifest_path: null,
  manifest_sha: null,
  manifest_assigned_at: null,
  manifest_assigned_by: null,
}

/** Members that null removes in a change. */
const removable = ['description', 'risk_classification', 'agent_id', 'approval']

/** Members of a policy that no request changes; a client that sends back what it read sends them too. */
const readOnly = [
  'id',
  'version',
  'manifest_id',
  'manifest_name',
  'manifest_repo',
  'manifest_path',
  'manifest_sha',
  'manifest_assigned_at',
  'manifest_assigned_by',
  'waived_until',
  'deleted_at',
  'overridden',
  'warnings',
]

const otherNames = { rule: 'rule_type', rule_function: 'rule_type', parameters: 'params' } as const

/** True if a body has a member that only a policy has. */
export function isPolicyBody(body: object): boolean {
  return ['rule_type', 'params', 'scope', 'severity', ...Object.keys(otherNames)].some((name) =>
    Object.hasOwn(body, name),
  )
}

/** The members by their own names. `known` is the policy that a change is about; null for a new one. */
export function membersIn(body: JsonMap, known: Policy | null, errors: FieldError[]): JsonMap {
  const members: Record<string, unknown> = {}
  const sentAs = new Map<string, string>()
  for (const [key, value] of Object.entries(body)) {
    const name = Object.hasOwn(otherNames, key) ? otherNames[key as keyof typeof otherNames] : key
    if (value === null && !(known !== null && removable.includes(name))) continue
    if (readOnly.includes(name)) {
      errors.push(...changedReadOnly(name, value, known))
      continue
    }
    const first = sentAs.get(name)
    if (first !== undefined && canonical(members[name]) !== canonical(value))
      errors.push({ path: key, message: `has another value than \`${first}\`, which means the same: send one of them` })
    if (first === undefined || key === name) members[name] = value
    sentAs.set(name, first ?? key)
  }
  return members
}

function changedReadOnly(path: string, value: unknown, known: Policy | null): FieldError[] {
  const own: unknown = known === null ? undefined : (known as unknown as JsonMap)[path]
  if (path === 'warnings' || (own !== undefined && canonical(own) === canonical(value))) return []
  return [{ path, message: 'is set by the platform: leave it out' }]
}

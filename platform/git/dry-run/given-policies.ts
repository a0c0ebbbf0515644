// The manifest or the policy of a request, and the policies in effect that it takes the place of.
import {
  type Finding,
  type ManifestReading,
  parseManifest,
  policiesOfManifests,
  type ReplayPolicies,
} from '@svc/engine'
import type { DryRunRequest, JsonMap, Policy } from '@svc/schemas'
import { type FieldError, invalid } from '../../errors.js'

export interface GivenPolicies {
  /** For every agent of the replayed tasks, as an assignment puts them in effect: by its risk level, with its waivers. */
  readonly policies: ReplayPolicies
  readonly replaces: (policy: Pick<Policy, 'name' | 'manifest_name'>) => boolean
  readonly warnings: readonly Finding[]
}

/** Throws INVALID with every finding that is an error. */
export function givenPolicies({ manifest, policy, file = 'manifest.yaml' }: DryRunRequest): GivenPolicies {
  if (manifest !== undefined && policy === undefined) return ofManifest(manifest, file)
  if (policy !== undefined && manifest === undefined) return ofPolicy(policy, file)
  const message =
    policy === undefined ? 'is missing: send `manifest` or `policy`' : 'send `manifest` or `policy`, not both'
  throw invalid([{ path: 'manifest', message }])
}

function ofManifest(text: string, file: string): GivenPolicies {
  const reading = parseManifest(text, file)
  const { name, ...given } = usable(reading, file, inManifest)
  return { ...given, replaces: ({ manifest_name }) => manifest_name === name }
}

/** The policy as the only one of a manifest. */
function ofPolicy(policy: JsonMap, file: string): GivenPolicies {
  const text = JSON.stringify({ name: 'dry run', version: '1', policies: [policy] })
  const reading = parseManifest(text, file)
  const { policies } = usable(reading, file, inPolicy)
  const alone = policies.policies.map((one) => ({ ...one, file: null, line: null }))
  return { policies: { ...policies, policies: alone }, replaces: ({ name }) => name === policy.name, warnings: [] }
}

type Usable = Pick<ManifestReading, 'value' | 'errors' | 'warnings' | 'lines'>

function usable(
  { value, errors, warnings, lines }: Usable,
  file: string,
  fieldError: (finding: Finding) => FieldError,
) {
  if (errors.length > 0 || value === null) throw invalid(errors.slice(0, maxErrors).map(fieldError))
  return { name: value.name, policies: policiesOfManifests([{ manifest: value, file, lines }]), warnings }
}

const maxErrors = 100

function inManifest({ id, message, line, column }: Finding): FieldError {
  return { path: 'manifest', message, id, line, column }
}

/** The policy has no text of its own, so its finding has a path and no line. */
function inPolicy({ id, path, message }: Finding): FieldError {
  return {
    path: path.replace(/^policies\.0\b/, 'policy'),
    message: message.replaceAll('`policies[0]', '`policy'),
    id,
  }
}

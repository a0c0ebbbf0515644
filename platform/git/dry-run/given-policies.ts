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
import { byHand, isPolicyBody } from '../../policies/given/members.js'
import { readNewPolicy } from '../../policies/given/read-policy.js'

export interface GivenPolicies {
  /** For every agent of the replayed tasks, as an assignment puts them in effect: by its risk level, with its waivers. */
  readonly policies: ReplayPolicies
  readonly replaces: (policy: Pick<Policy, 'name' | 'manifest_name'>) => boolean
  readonly warnings: readonly Finding[]
}

/** The request; a body of POST /api/v1/policies is its `policy`, on the tasks of its agent. */
export function withPolicy(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !isPolicyBody(body)) return body
  const { tasks, ...policy } = body as JsonMap
  return {
    policy,
    ...(tasks !== undefined && { tasks }),
    ...(policy.agent_id != null && { agent_id: policy.agent_id }),
  }
}

/** Throws INVALID with every finding that is an error. */
export function givenPolicies({ manifest, policy, file = 'manifest.yaml' }: DryRunRequest): GivenPolicies {
  if (manifest !== undefined && policy === undefined) return ofManifest(manifest, file)
  if (policy !== undefined && manifest === undefined) return ofPolicy(policy)
  const message =
    policy === undefined ? 'is missing: send `manifest` or `policy`' : 'send `manifest` or `policy`, not both'
  throw invalid([{ path: 'manifest', message }])
}

function ofManifest(text: string, file: string): GivenPolicies {
  const reading = parseManifest(text, file)
  const { name, ...given } = usable(reading, file)
  return { ...given, replaces: ({ manifest_name }) => manifest_name === name }
}

/** The policy as POST /api/v1/policies would put it in force: for its agent, and for agents of exactly its level. */
function ofPolicy(body: JsonMap): GivenPolicies {
  const { policy } = readNewPolicy(body, 'policy')
  const { agent_id, risk_classification: level } = policy
  const given = { policy: { ...policy, ...byHand, id: 1, version: 1 }, file: null, line: null }
  const applies = (agent: JsonMap) =>
    policy.enabled &&
    (agent_id === null || agent.agent_id === agent_id) &&
    (level === null || agent.risk_classification === level)
  const policies: ReplayPolicies = {
    policies: [given],
    keyOf: (agent) => String(applies(agent)),
    onAgent: ({ policy: one }, agent) => (applies(agent) ? one : null),
  }
  return { policies, replaces: ({ name }) => name === policy.name, warnings: [] }
}

type Usable = Pick<ManifestReading, 'value' | 'errors' | 'warnings' | 'lines'>

function usable({ value, errors, warnings, lines }: Usable, file: string) {
  if (errors.length > 0 || value === null) throw invalid(errors.slice(0, maxErrors).map(inManifest))
  return { name: value.name, policies: policiesOfManifests([{ manifest: value, file, lines }]), warnings }
}

const maxErrors = 100

function inManifest({ id, message, line, column }: Finding): FieldError {
  return { path: 'manifest', message, id, line, column }
}

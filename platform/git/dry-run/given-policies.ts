// The manifests or the policy of a request, and the policies in effect that they take the place of.
import { parseManifest } from '@svc/engine'
import { type Finding, policiesOfManifests, type ReplayManifest, type ReplayPolicies } from '@svc/engine/parts'
import type { DryRunManifest, DryRunRequest, JsonMap, Policy } from '@svc/schemas'
import { type FieldError, invalid } from '../../errors.js'
import { byHand, isPolicyBody } from '../../policies/given/members.js'
import { readNewPolicy } from '../../policies/given/read-policy.js'

export interface GivenPolicies {
  /** For every agent of the replayed tasks, as an assignment puts them in effect: by its risk level, with its waivers. */
  readonly policies: ReplayPolicies
  /** To compare with, in place of the same policies in effect; null for the policies in effect. */
  readonly against: ReplayPolicies | null
  readonly replaces: (policy: Pick<Policy, 'id' | 'name' | 'manifest_name'>) => boolean
  readonly warnings: readonly Finding[]
  /** The given policy; null for manifests. */
  readonly policy: Pick<Policy, 'name' | 'severity' | 'scope'> | null
}

/** The request; a body of POST /api/v1/policies is its `policy`, on the tasks of its agent. */
export function withPolicy(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !isPolicyBody(body)) return body
  const { tasks, from, to, in_place_of, ...policy } = body as JsonMap
  return {
    policy,
    ...(tasks !== undefined && { tasks }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(in_place_of !== undefined && { in_place_of }),
    ...(policy.agent_id != null && { agent_id: policy.agent_id }),
  }
}

/** Throws INVALID with every finding that is an error. */
export function givenPolicies(request: DryRunRequest): GivenPolicies {
  const { manifest, manifests, against = [], policy, in_place_of, file = 'manifest.yaml' } = request
  const given = [manifest, manifests, policy].filter((one) => one !== undefined)
  if (given.length !== 1) {
    const message = given.length === 0 ? 'is missing: send' : 'is not alone: send only one of'
    throw invalid([{ path: 'manifest', message: `${message} \`manifest\`, \`manifests\` or \`policy\`` }])
  }
  if (in_place_of !== undefined && policy === undefined)
    throw invalid([
      { path: 'in_place_of', message: 'goes with `policy`: manifests take the place of those of their names' },
    ])
  if (manifest !== undefined) return ofManifests([readAt({ manifest, file }, 'manifest')], listed(against, 'against'))
  if (manifests !== undefined) return ofManifests(listed(manifests, 'manifests'), listed(against, 'against'))
  if (against.length === 0) return ofPolicy(policy ?? {}, in_place_of)
  throw invalid([{ path: 'against', message: 'goes with manifests: send `manifest` or `manifests`, not `policy`' }])
}

function ofManifests(given: readonly Readable[], against: readonly Readable[]): GivenPolicies {
  const names = new Set([...given, ...against].map(({ manifest: { name } }) => name))
  return {
    policies: policiesOfManifests(given),
    against: against.length === 0 ? null : policiesOfManifests(against),
    replaces: ({ manifest_name }) => manifest_name !== null && names.has(manifest_name),
    warnings: given.flatMap(({ warnings }) => warnings),
    policy: null,
  }
}

/** The policy as POST /api/v1/policies would put it in force: for its agent, and for agents of exactly its level. */
function ofPolicy(body: JsonMap, in_place_of: number | null | undefined): GivenPolicies {
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
  const replaces: GivenPolicies['replaces'] = ({ id, name }) =>
    in_place_of === undefined ? name === policy.name : id === in_place_of
  return { policies, against: null, replaces, warnings: [], policy }
}

interface Readable extends ReplayManifest {
  readonly warnings: readonly Finding[]
}

function listed(manifests: readonly DryRunManifest[], name: string): Readable[] {
  return manifests.map((one, index) => readAt(one, `${name}[${index}].manifest`))
}

function readAt({ manifest: text, file }: DryRunManifest, path: string): Readable {
  const { value: manifest, errors, warnings, lines } = parseManifest(text, file)
  if (manifest !== null && errors.length === 0) return { manifest, file, lines, warnings }
  throw invalid(errors.slice(0, maxErrors).map((error) => inManifest(error, path)))
}

const maxErrors = 100

function inManifest({ id, message, line, column }: Finding, path: string): FieldError {
  return { path, message, id, line, column }
}

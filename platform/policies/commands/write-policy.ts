// Policies that people write, and what they set on policies of manifests (docs/design/platform.md §4).
import { quotePath } from '@svc/engine/parts'
import { canonical } from '@svc/proof'
import { isoTime, type Policy } from '@svc/schemas'
import { changeAs } from '../../access/commands/members.js'
import type { Resources, Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { invalid, invalidTransition, PlatformError } from '../../errors.js'
import { operators } from '../../http/principal.js'
import { bumpConfig } from '../../ledger/log.js'
import type { Moment } from '../../ledger/moment.js'
import { type Changes, notePolicy, type PolicyEventKind } from '../events.js'
import { byHand, type WrittenPolicy, writtenMembers } from '../given/members.js'
import { type GivenPolicy, readChangedPolicy } from '../given/read-policy.js'
import { overriddenBy } from '../overrides.js'
import { findPolicy, insertPolicies } from '../store/policies.js'
import { beginPolicyVersion, endPolicyVersion } from '../store/policy-versions.js'
import { agentNamed, isReplaced, updatePolicy } from '../store/write-policy.js'
import { assertNotOfStop } from './managed-by-stop.js'

/** The changes of a policy, and the states from which each is possible. */
const policyMoves = {
  change: { from: ['enabled', 'disabled'] },
  enable: { from: ['enabled', 'disabled'] },
  disable: { from: ['enabled', 'disabled'] },
  delete: { from: ['enabled', 'disabled'] },
} as const satisfies Record<string, { readonly from: readonly PolicyState[] }>

type PolicyMove = keyof typeof policyMoves
/** `replaced`: a later version of its manifest has another policy in its place, or its assignment was removed. */
type PolicyState = 'enabled' | 'disabled' | 'deleted' | 'replaced'

/** Puts a policy in force. Rejects with INVALID for an agent that the workspace does not have. */
export function createPolicy(parts: Resources, scope: Scope, given: GivenPolicy): Promise<Policy> {
  const { policy, warnings } = given
  return changeAs(parts, scope, operators, async (tx, moment) => {
    await assertAgent(scope, tx, policy.agent_id)
    const [made] = await insertPolicies(scope, tx, moment.now, null, [{ ...policy, ...byHand }], moment.log_index)
    if (made === undefined) throw new Error('the policy was not inserted')
    await beginPolicyVersion(scope, tx, moment, made)
    await notePolicy(scope, tx, moment.now, [{ kind: 'policy.created' }], made)
    await bumpConfig(scope, tx)
    return { ...((await findPolicy(scope, tx, made.id)) ?? made), warnings }
  })
}

/** A version that the caller read; null changes whatever version is there. */
export type Expected = (version: number) => boolean

/** Changes members of a policy. Rejects with NOT_FOUND, INVALID, INVALID_TRANSITION, PRECONDITION_FAILED, MANAGED_BY_MANIFEST. */
export function changePolicy(parts: Resources, scope: Scope, id: number, body: unknown, expected: Expected) {
  return changing(parts, scope, id, 'change', expected, async (tx, known) => {
    const { policy, warnings } = readChangedPolicy(body, known)
    if (policy.agent_id !== known.agent_id) await assertAgent(scope, tx, policy.agent_id)
    return { policy, warnings }
  })
}

/** Enables or disables a policy. Idempotent. Rejects like `changePolicy`. */
export function switchPolicy(
  parts: Resources,
  scope: Scope,
  id: number,
  move: 'enable' | 'disable',
  expected: Expected,
) {
  return changing(parts, scope, id, move, expected, async (_, known) => ({
    policy: { ...known, enabled: move === 'enable' },
  }))
}

/** Ends a policy for good; incidents still refer to it. Rejects like `changePolicy`. */
export function deletePolicy(parts: Resources, scope: Scope, id: number, expected: Expected) {
  return changeAs(parts, scope, operators, async (tx, moment) => {
    const known = await changeable(scope, tx, id, 'delete', expected)
    if (known.manifest_id !== null) throw managed(known, 'deleted')
    const { now } = moment
    const next = { ...known, enabled: false, version: known.version + 1, deleted_at: isoTime(now) }
    await updatePolicy(scope, tx, now, next)
    await endPolicyVersion(scope, tx, moment, id)
    await notePolicy(scope, tx, now, [{ kind: 'policy.deleted' }], { ...next, enabled: known.enabled })
    await bumpConfig(scope, tx)
    return next
  })
}

interface Wanted {
  readonly policy: WrittenPolicy
  readonly warnings?: Policy['warnings']
}

/** Changes the policy under the lock of the log, and returns it. What changes nothing makes no version and no event. */
function changing(
  parts: Resources,
  scope: Scope,
  id: number,
  move: PolicyMove,
  expected: Expected,
  wanted: (tx: Transaction, known: Policy) => Promise<Wanted>,
): Promise<Policy> {
  return changeAs(parts, scope, operators, async (tx, moment) => {
    const known = await changeable(scope, tx, id, move, expected)
    const { policy, warnings } = await wanted(tx, known)
    const changes = changesOf(known, policy)
    const members = Object.keys(changes)
    if (members.length > 0) {
      const others = members.filter((member) => member !== 'enabled' && member !== 'mode')
      if (known.manifest_id !== null && others.length > 0) throw managed(known, 'changed', others)
      const written = Object.fromEntries(writtenMembers.map((member) => [member, policy[member]]))
      const overridden = known.manifest_id === null ? null : overriddenBy(known, policy)
      await putVersion(
        scope,
        tx,
        moment,
        known,
        { ...known, ...written, version: known.version + 1, overridden },
        changes,
      )
    }
    const stored = (await findPolicy(scope, tx, id)) ?? known
    return warnings === undefined ? stored : { ...stored, warnings }
  })
}

async function putVersion(
  scope: Scope,
  tx: Transaction,
  moment: Moment,
  known: Policy,
  next: Policy,
  changes: Changes,
): Promise<void> {
  const { enabled: switched, ...others } = changes
  // The first change of a policy from a manifest: before it, the policy was in force as the manifest has it.
  if (!(await endPolicyVersion(scope, tx, moment, known.id))) {
    await beginPolicyVersion(scope, tx, null, known)
    await endPolicyVersion(scope, tx, moment, known.id)
  }
  await updatePolicy(scope, tx, moment.now, next)
  await beginPolicyVersion(scope, tx, moment, next)
  const kinds: { kind: PolicyEventKind; changes: Changes }[] = []
  if (Object.keys(others).length > 0) kinds.push({ kind: 'policy.updated', changes: others })
  if (switched !== undefined)
    kinds.push({ kind: next.enabled ? 'policy.enabled' : 'policy.disabled', changes: { enabled: switched } })
  await notePolicy(scope, tx, moment.now, kinds, next)
  await bumpConfig(scope, tx)
}

/** The policy, if the change is possible. */
async function changeable(
  scope: Scope,
  tx: Transaction,
  id: number,
  move: PolicyMove,
  expected: Expected,
): Promise<Policy> {
  const known = await findPolicy(scope, tx, id)
  if (known === null) throw policyNotFound()
  await assertNotOfStop(scope, tx, id)
  const state = await stateOf(scope, tx, known)
  const { from } = policyMoves[move]
  if (!from.some((possible) => possible === state))
    throw invalidTransition(move, 'a policy', state, from, remedyIn(state))
  if (!expected(known.version))
    throw new PlatformError(
      'PRECONDITION_FAILED',
      `the policy has version ${known.version} now: read it again, and send \`If-Match: "${known.version}"\``,
    )
  return known
}

async function stateOf(scope: Scope, tx: Transaction, { id, enabled, deleted_at }: Policy): Promise<PolicyState> {
  if (deleted_at != null) return 'deleted'
  if (await isReplaced(scope, tx, id)) return 'replaced'
  return enabled ? 'enabled' : 'disabled'
}

/** The remedy for a move that is not possible. */
function remedyIn(state: PolicyState): string {
  return state === 'deleted'
    ? 'create another policy'
    : 'GET /api/v1/policies?agent_id=…&enabled=true lists the policies in force'
}

export function policyNotFound(): PlatformError {
  return new PlatformError('NOT_FOUND', 'no such policy: list them with GET /api/v1/policies')
}

function managed(policy: Policy, what: string, members: readonly string[] = []): PlatformError {
  const { manifest_name, manifest_path, manifest_repo } = policy
  const where = manifest_repo === null ? 'the library of the platform' : quotePath(manifest_repo)
  const named = members.length === 0 ? '' : ` (${members.map((member) => `\`${member}\``).join(', ')})`
  const remedy =
    manifest_repo === null
      ? `remove its assignment and assign another manifest`
      : `change ${quotePath(manifest_path ?? '')} there, or assign another manifest`
  const message = `the policy is from the manifest ${quotePath(manifest_name ?? '')} (${quotePath(manifest_path ?? '')} in ${where}) and cannot be ${what} here${named}: ${remedy}; \`enabled\` and \`mode\` can be set here`
  const errors = members.map((path) => ({ path, message: 'is set by the manifest' }))
  return new PlatformError('MANAGED_BY_MANIFEST', message, { errors })
}

function changesOf(known: Policy, next: WrittenPolicy): Changes {
  return Object.fromEntries(
    writtenMembers.flatMap((member) => {
      const [from, to] = [known[member] ?? null, next[member] ?? null]
      return canonical(from) === canonical(to) ? [] : [[member, { from, to }]]
    }),
  )
}

/** Throws INVALID for an agent that the workspace does not have. */
async function assertAgent(scope: Scope, tx: Transaction, agent_id: string | null): Promise<void> {
  if (agent_id === null) return
  const known = await agentNamed(scope, tx, agent_id)
  if (known === agent_id) return
  const hint = known === null ? 'GET /api/v1/agents lists the agents' : `it is the key of the agent \`${known}\``
  throw invalid([{ path: 'agent_id', message: `no agent has the id ${quotePath(agent_id)}: ${hint}` }])
}

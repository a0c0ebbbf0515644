// One or two policy sets that share their histories: a step is recorded once, and evaluated on the same history by both.
import type { JsonMap } from '@svc/schemas'
import { compile, type PolicySet, withPolicies } from '../../policy/compile.js'
import type { ReplayPolicies, ReplayPolicy } from './policies.js'

/** `new` is the set that is replayed, `old` the one that it is compared with. */
export type Side = 'new' | 'old'

export interface ListedPolicy extends ReplayPolicy {
  readonly side: Side
}

/** The policies in effect for the agents of one key. */
export interface View {
  readonly set: PolicySet
  readonly against: PolicySet | null
  /** Tasks that were evaluated with it. */
  tasks: number
}

export interface ReplaySets {
  /** Indexes the history of every task. */
  readonly whole: PolicySet
  /** Every policy at the index that is its id in the sets. */
  readonly listed: readonly ListedPolicy[]
  /** There is a set to compare with. */
  readonly is_compared: boolean
  readonly viewOf: (agent: JsonMap) => View
  readonly views: () => Iterable<View>
}

export function createSets(policies: ReplayPolicies, against: ReplayPolicies | null): ReplaySets {
  const listed = [...listedOf(policies, 'new'), ...(against === null ? [] : listedOf(against, 'old'))]
  const whole = compile(listed.map(({ policy }, id) => ({ ...policy, id })))
  const known = new Map<string, View>()
  const setFor = (side: Side, given: ReplayPolicies, agent: JsonMap) =>
    withPolicies(
      whole,
      whole.policies.flatMap((compiled) => {
        const one = listed[compiled.policy.id]
        const applied = one?.side === side ? given.onAgent(one, agent) : null
        return applied === null ? [] : [{ ...compiled, policy: { ...applied, id: compiled.policy.id } }]
      }),
    )
  return {
    whole,
    listed,
    is_compared: against !== null,
    viewOf: (agent) => {
      const key = JSON.stringify([policies.keyOf(agent), against?.keyOf(agent)])
      const found = known.get(key)
      if (found !== undefined) return found
      const view = { set: setFor('new', policies, agent), against: against && setFor('old', against, agent), tasks: 0 }
      known.set(key, view)
      return view
    },
    views: () => known.values(),
  }
}

function listedOf({ policies }: ReplayPolicies, side: Side): ListedPolicy[] {
  return policies.map((policy) => ({ ...policy, side }))
}

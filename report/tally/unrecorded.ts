// Decisions whose steps were not recorded, as local engines declare them: the log proves what was declared and when, and no more.
import { isMap } from '@svc/proof'
import type { Summary } from '../content/summary-data.js'
import { type EventLeaf, textOf } from './leaves.js'

/** A policy that decisions found violated; an engine names it. */
export interface DeclaredPolicy {
  readonly policy_id: number
  readonly name: string | null
  readonly count: number
}

/** Of the chosen agents; null for all. */
export function createUnrecorded(chosen: ReadonlySet<string> | null) {
  const policies = new Map<string, DeclaredPolicy>()
  const totals = { unrecorded_decisions: 0, unrecorded_blocked: 0, unrecorded_allowed: 0 }
  const addViolation = (violation: unknown) => {
    if (!isMap(violation) || violation.waived === true) return
    const policy_id = Number(violation.policy_id)
    if (violation.policy_id === null || !Number.isSafeInteger(policy_id)) return
    const name = textOf(violation.name)
    const key = JSON.stringify([policy_id, name])
    const count = (policies.get(key)?.count ?? 0) + 1
    policies.set(key, { policy_id, name, count })
  }
  return {
    policies: () => [...policies.values()],
    totals: (): Pick<Summary, keyof typeof totals> => ({ ...totals }),
    add: ({ kind, data }: EventLeaf) => {
      if (kind !== 'step.unrecorded') return
      const { agent_id, outcome, violations, others } = data
      if (chosen !== null && !chosen.has(textOf(agent_id) ?? '')) return
      const isBlocked = outcome === 'block' || outcome === 'ask'
      // Those that came with it have no event of their own.
      totals.unrecorded_decisions += 1 + (Number.isSafeInteger(others) ? Number(others) : 0)
      totals.unrecorded_blocked += Number(isBlocked)
      totals.unrecorded_allowed += Number(!isBlocked)
      if (Array.isArray(violations)) for (const violation of violations) addViolation(violation)
    },
  }
}

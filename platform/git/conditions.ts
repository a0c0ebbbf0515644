// Conditions of repositories and assignments: each keeps the time at which it began.
import type { Condition } from '@svc/schemas'
import type { SourceFault } from './source/source.js'

export type NewCondition = Omit<Condition, 'since'>

/** The conditions with the times at which they began; one that is known keeps its time. */
export function since(now: string, known: readonly Condition[], found: readonly NewCondition[]): Condition[] {
  return found.map((condition) => {
    const same = known.find(({ kind, reason }) => kind === condition.kind && reason === condition.reason)
    return { ...condition, since: same?.since ?? now }
  })
}

/** True if the conditions differ in more than their times. */
export function differ(some: readonly NewCondition[], others: readonly NewCondition[]): boolean {
  const text = (list: readonly NewCondition[]) =>
    JSON.stringify(list.map(({ kind, reason, message }) => [kind, reason, message]))
  return text(some) !== text(others)
}

/** The kinds that a repository gives to all its assignments. */
export const ofRepository: ReadonlySet<Condition['kind']> = new Set([
  'branch_missing',
  'access_revoked',
  'fetch_failed',
])

/** The conditions of an assignment that stays at a pinned version: which version is at the head no longer matters. */
export function whilePinned(conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ kind }) => ofRepository.has(kind) || kind === 'manifest_missing')
}

/** The condition of a repository that cannot be read. */
export function conditionOf(code: SourceFault, message: string): NewCondition {
  return { kind: kinds[code], reason: code, message }
}

const kinds: Readonly<Record<SourceFault, NewCondition['kind']>> = {
  branch_missing: 'branch_missing',
  repository_missing: 'access_revoked',
  access_revoked: 'access_revoked',
  private: 'access_revoked',
  rejected: 'fetch_failed',
  too_large: 'fetch_failed',
  fetch_failed: 'fetch_failed',
}

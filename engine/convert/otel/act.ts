// An act of an agent, as its span shows it: a step before it has a number.
import type { Body } from '../step-body.js'
import type { Span } from './span.js'
import type { Subagent } from './tree.js'

export interface Act {
  /** ns since 1970. */
  readonly time: bigint
  /** The span that the step stands for; null for a step that follows from the content of a span. */
  readonly span: Span | null
  /** The span that shows the step. */
  readonly shown_by: Span
  /** The sub-agent that acted; null for the agent of the task. */
  readonly subagent: Subagent | null
  readonly body: Body
  /** Ids within the task. The first is the identity of the act: another span may show the same act. */
  readonly origins: Origins
  /** An origin of another view of the act, which stands for at most one act of this view. */
  readonly same_as?: string
  /** An origin that the task must have: without it the act belongs to another task. */
  readonly needs?: string
  /** Origins each of which shows that other spans have the act. */
  readonly unless?: readonly string[]
}

export type Origins = readonly [identity: string, ...aliases: string[]]

/** The acts that are not known yet, each once; `known` are origins of earlier acts of the task. */
export function freshActs<A extends Pick<Act, 'origins' | 'needs' | 'unless'>>(
  acts: readonly A[],
  known: ReadonlySet<string>,
): A[] {
  const all = new Set([...known, ...acts.flatMap(({ origins }) => origins)])
  const seen = new Set(known)
  return acts.filter(({ origins, needs, unless = [] }) => {
    if (needs !== undefined && !all.has(needs)) return false
    if (seen.has(origins[0]) || unless.some((origin) => all.has(origin))) return false
    for (const origin of origins) seen.add(origin)
    return true
  })
}

/** The origins that `freshActs` compares with those of earlier acts. */
export function decidingOrigins(acts: readonly Pick<Act, 'origins' | 'needs' | 'unless'>[]): string[] {
  const found = acts.flatMap(({ origins: [identity], needs, unless = [] }) => [identity, needs, ...unless])
  return [...new Set(found.filter((origin) => origin !== undefined))]
}

/** The number of a value among its equals, from 1. */
export function createOrdinals(): (value: string) => number {
  const counts = new Map<string, number>()
  return (value) => {
    const count = (counts.get(value) ?? 0) + 1
    counts.set(value, count)
    return count
  }
}

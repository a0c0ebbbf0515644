// The results of the steps that were sent.
import type { BatchAnswer, BatchResult, Behavior, StepViolation } from '@svc/schemas'
import type { ImportCounts } from './target.js'

export interface Counts {
  /** The platform's answers to a part of a run, which `place` names in messages. */
  readonly addAnswers: (place: string, part: readonly Behavior[], answer: BatchAnswer) => void
  /** A part that was rejected as a whole. */
  readonly addRejection: (place: string, part: readonly Behavior[], message: string) => void
  readonly total: () => ImportCounts
}

/** Every step of a large file could be rejected. */
const maxFailures = 1000

export function createCounts(): Counts {
  const count = { steps: 0, created: 0, replayed: 0 }
  const failed = new Set<string>()
  const failures: string[] = []
  // Maps, because a policy may have any name.
  const violations = new Map<string, number>()
  const would_block = new Map<string, number>()
  const would_ask = new Map<string, number>()

  const fail = (place: string, what: string) => {
    failed.add(place)
    if (failures.length < maxFailures) failures.push(`${place}, ${what}`)
  }
  const addResult = (place: string, step: number | undefined, { status, entry, problem }: BatchResult) => {
    if (status === 201) count.created++
    else if (status === 200) count.replayed++
    else fail(place, `step ${step}: ${problem?.detail ?? `status ${status}`}`)
    for (const violation of entry?.violations ?? []) {
      increment(violations, violation.name)
      if (violation.asks === true) increment(would_ask, violation.name)
      else if (blocks(violation)) increment(would_block, violation.name)
    }
  }

  return {
    addAnswers: (place, part, { results }) => {
      count.steps += part.length
      for (const [index, result] of results.entries()) addResult(place, part[index]?.step, result)
    },
    addRejection: (place, part, message) => {
      count.steps += part.length
      fail(place, `steps ${part.at(0)?.step} to ${part.at(-1)?.step}: ${message}`)
    },
    total: () => ({
      ...count,
      failed_runs: failed.size,
      failures,
      violations: Object.fromEntries(violations),
      would_block: Object.fromEntries(would_block),
      would_ask: Object.fromEntries(would_ask),
    }),
  }
}

function blocks({ severity, mode, waived }: StepViolation): boolean {
  return severity === 'critical' && mode === 'enforce' && !waived
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

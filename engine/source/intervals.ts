// States that the platform has not been told of yet, on disk, so that they outlive this process.
import { readIfThere, replaceFile } from '../files/durable-file.js'
import type { LoadState } from './state.js'

/** A time during which an engine was in one state; times are RFC 3339. */
export interface Interval {
  readonly instance_id: string
  readonly version: string
  readonly load_state: LoadState
  readonly policy_count: number
  readonly since: string
  /** Null while it lasts. */
  readonly until: string | null
}

export interface IntervalSpool {
  /** Oldest first. */
  readonly all: () => readonly Interval[]
  readonly add: (interval: Interval) => void
  readonly remove: (interval: Interval) => void
}

/** Of more the oldest is given up: a platform that is away so long knows that it was. */
export const mostIntervals = 1000

/** The spool in a file; one that cannot be read or written is told once, and kept in memory alone. */
export function intervalSpool(path: string, report: (line: string) => void): IntervalSpool {
  let intervals = kept(path, report)
  let told = false
  const change = (next: readonly Interval[]) => {
    intervals = next.slice(-mostIntervals)
    try {
      replaceFile(path, JSON.stringify(intervals))
    } catch (error) {
      if (!told) report(`states of this engine cannot be kept in \`${path}\`: ${reasonOf(error)}`)
      told = true
    }
  }
  return {
    all: () => intervals,
    add: (interval) => change([...intervals, interval]),
    remove: (interval) => change(intervals.filter((one) => one !== interval)),
  }
}

function kept(path: string, report: (line: string) => void): readonly Interval[] {
  try {
    const value: unknown = JSON.parse(readIfThere(path) ?? '[]')
    if (Array.isArray(value)) return value.filter(isInterval)
  } catch (error) {
    report(`the states kept in \`${path}\` cannot be read: ${reasonOf(error)}`)
  }
  return []
}

/** What stands there was written by this program, or by nobody it can ask. */
function isInterval(value: unknown): value is Interval {
  const { instance_id, load_state, since } = Object(value) as Partial<Interval>
  return [instance_id, load_state, since].every((text) => typeof text === 'string')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

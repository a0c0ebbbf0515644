// Load states that are not sent to the platform yet, on disk, so that they outlive this process.
import { parseJson } from '@svc/proof'
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
  /** The engine stopped at the end of this state. */
  readonly ended?: true
}

export interface IntervalSpool {
  /** Oldest first. */
  readonly all: () => readonly Interval[]
  readonly add: (interval: Interval) => void
  readonly remove: (interval: Interval) => void
}

/** Beyond this number the oldest interval is dropped: the platform can tell that its own outage was long. */
export const maxIntervals = 1000

/** The spool in a file; when the file cannot be read or written, that is reported once and the spool is in memory only. */
export function intervalSpool(path: string, report: (line: string) => void): IntervalSpool {
  let intervals = readSpool(path, report)
  let reported = false
  const change = (next: readonly Interval[]) => {
    intervals = next.slice(-maxIntervals)
    try {
      replaceFile(path, JSON.stringify(intervals))
    } catch (error) {
      if (!reported) report(`states of this engine cannot be kept in \`${path}\`: ${reasonOf(error)}`)
      reported = true
    }
  }
  return {
    all: () => intervals,
    add: (interval) => change([...intervals, interval]),
    remove: (interval) => change(intervals.filter((one) => one !== interval)),
  }
}

function readSpool(path: string, report: (line: string) => void): readonly Interval[] {
  try {
    const value: unknown = parseJson(readIfThere(path) ?? '[]')
    if (Array.isArray(value)) return value.filter(isInterval)
  } catch (error) {
    report(`the states kept in \`${path}\` cannot be read: ${reasonOf(error)}`)
  }
  return []
}

/** A light check: only this program writes the file. */
function isInterval(value: unknown): value is Interval {
  const { instance_id, load_state, since } = Object(value) as Partial<Interval>
  return [instance_id, load_state, since].every((text) => typeof text === 'string')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// The CPU time of processes, as Linux counts it.
import { readFileSync } from 'node:fs'

/** Seconds of CPU that a process has used, its ended children included; NaN where the system does not report it. */
export function cpuSeconds(pid: number | 'self'): number {
  try {
    // The fields after the name in parentheses, which may contain spaces: user, system, and the same of children, in ticks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
  } catch {
    return Number.NaN
  }
}

const ticksPerSecond = 100

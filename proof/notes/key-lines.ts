// The keys of a log as lines of a trust policy.
import type { LogKey } from '@svc/schemas'

/** The lines, each with a remark before it; a key that was stolen is named as one of the past. */
export function keyLines(keys: readonly LogKey[]): string[] {
  return keys.flatMap((key) => [`# ${remarkOn(key)}`, `${key.stolen ? 'past' : 'log'} ${key.key}`])
}

function remarkOn({ fingerprint, from, until, stolen }: LogKey): string {
  const since = from === null ? '' : ` from ${day(from)}`
  const period = until === null ? `signs${since || ' from the beginning'}` : `signed${since} until ${day(until)}`
  const remark = stolen
    ? '; STOLEN: taken only for checkpoints that a later key confirms; to read a bundle from before, write `log` for `past`'
    : ''
  return `fingerprint ${fingerprint}; ${period}${remark}`
}

function day(time: string): string {
  return time.slice(0, 10)
}

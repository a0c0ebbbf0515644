// The keys of a log as lines of a trust policy.
import type { LogCheckpoint, LogKey } from '@svc/schemas'

/** The lines, each after a comment; a stolen key becomes a `past` line. */
export function keyLines(keys: readonly LogKey[]): string[] {
  return keys.flatMap((key) => [`# ${commentOn(key)}`, `${key.stolen ? 'past' : 'log'} ${key.key}`])
}

/** The lines of a trust policy that an auditor begins with: each key of the log, to compare over another channel. */
export function trustPolicyLines({
  size,
  published_at,
  keys,
}: Pick<LogCheckpoint, 'size' | 'published_at' | 'keys'>): string[] {
  return [
    `# ${size} entries signed on ${published_at}`,
    '# compare the fingerprint with one from another channel: by phone, on paper, in a contract',
    ...keyLines(keys),
  ]
}

function commentOn({ fingerprint, from, until, stolen }: LogKey): string {
  const since = from === null ? '' : ` from ${day(from)}`
  const period = until === null ? `signs${since || ' from the beginning'}` : `signed${since} until ${day(until)}`
  const warning = stolen
    ? '; STOLEN: valid only for checkpoints that a later key confirms; to verify an earlier bundle, replace `past` with `log`'
    : ''
  return `fingerprint ${fingerprint}; ${period}${warning}`
}

function day(time: string): string {
  return time.slice(0, 10)
}

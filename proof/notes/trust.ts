// A trust policy: the keys that an auditor trusts for logs and witnesses, in the line format of C2SP tlog-policy. The auditor
// writes it; it never comes with a bundle.
import { type Note, parseVerifier, type Verifier, verifySignature } from './note.js'
import { smallOrderProblem } from './small-order.js'

export interface TrustPolicy {
  readonly logs: readonly Verifier[]
  /** Earlier keys of a log, such as a stolen one: they are trusted for earlier checkpoints, never for a bundle. */
  readonly past: readonly Verifier[]
  readonly witnesses: readonly NamedWitness[]
  /** The witnesses that must have signed a checkpoint; null requires none. */
  readonly quorum: Quorum | null
}

interface NamedWitness {
  readonly name: string
  readonly key: Verifier
}

interface Quorum {
  readonly name: string
  readonly met: (signed: ReadonlySet<string>) => boolean
}

export interface TrustReading {
  readonly value: TrustPolicy
  readonly errors: readonly { readonly line: number; readonly message: string }[]
}

/**
 * Reads lines `log KEY`, `past KEY`, `witness NAME KEY`, `group NAME all|any|COUNT MEMBER…` and `quorum NAME|none`; `#`
 * begins a comment. Never throws.
 */
export function parseTrustPolicy(text: string): TrustReading {
  const errors: { line: number; message: string }[] = []
  const draft: Draft = { logs: [], past: [], witnesses: [], groups: new Map(), quorum: null }
  for (const [index, source] of text.split(/\r?\n/).entries()) {
    const [word = '', ...rest] = source.replace(/#.*/, '').trim().split(/\s+/)
    if (word === '') continue
    const problem = Object.hasOwn(words, word) ? words[word]?.(rest, draft) : undefined
    if (problem === null) continue
    errors.push({
      line: index + 1,
      message: problem ?? `\`${word}\` is unknown: begin the line with ${Object.keys(words).join(', ')}`,
    })
  }
  if (draft.logs.length === 0 && errors.length === 0)
    errors.push({ line: 1, message: 'the policy names no log: add a line `log KEY` with the key of its checkpoints' })
  const { logs, past, witnesses, quorum } = draft
  return { value: { logs, past, witnesses, quorum }, errors }
}

interface Draft {
  readonly logs: Verifier[]
  readonly past: Verifier[]
  readonly witnesses: NamedWitness[]
  readonly groups: Map<string, Quorum>
  quorum: Quorum | null
}

/** Adds a line to the draft; returns the problem, or null. */
const words: Readonly<Record<string, (rest: string[], draft: Draft) => string | null>> = {
  log: ([key = '', ...rest], { logs }) => {
    const verifier = parseVerifier(key)
    if (verifier?.kind !== 'note' || rest.length > 1)
      return (
        smallOrderProblem(key) ??
        '`log` takes a key, `name+id+key` (the `key` of a checkpoint), and optionally an address'
      )
    logs.push(verifier)
    return null
  },
  past: ([key = '', ...rest], { past }) => {
    const verifier = parseVerifier(key)
    if (verifier?.kind !== 'note' || rest.length > 1) return '`past` takes an earlier key of a log, `name+id+key`'
    past.push(verifier)
    return null
  },
  witness: ([name = '', text = '', ...rest], { witnesses, groups }) => {
    const key = parseVerifier(text)
    if (key?.kind !== 'witness' || rest.length > 1)
      return (
        smallOrderProblem(text) ?? '`witness` takes a name, the key that the witness prints, and optionally an address'
      )
    if (isTaken(name, groups)) return `the name \`${name}\` is taken`
    witnesses.push({ name, key })
    groups.set(name, { name, met: (signed) => signed.has(name) })
    return null
  },
  group: ([name = '', count = '', ...members], { groups }) => {
    const needed = count === 'all' ? members.length : count === 'any' ? 1 : Number(count)
    const parts = members.map((member) => groups.get(member)).filter((part) => part !== undefined)
    if (isTaken(name, groups)) return `the name \`${name}\` is taken`
    if (parts.length < members.length) return `a member is not defined by an earlier line`
    if (new Set(members).size < members.length) return 'a member occurs twice'
    if (!(Number.isInteger(needed) && needed >= 1 && needed <= members.length))
      return '`group` takes a name, then `all`, `any` or a count, then at least that many members'
    groups.set(name, { name, met: (signed) => parts.filter((part) => part.met(signed)).length >= needed })
    return null
  },
  quorum: ([name = ''], draft) => {
    draft.quorum = draft.groups.get(name) ?? null
    return draft.quorum === null && name !== 'none' ? `\`${name}\` is not a witness or group of an earlier line` : null
  },
}

function isTaken(name: string, groups: ReadonlyMap<string, Quorum>): boolean {
  return name === '' || name === 'none' || groups.has(name)
}

/** The trusted key of the log that has signed the note; null if no such key has signed it. */
export function signedByLog(note: Note, origin: string, { logs }: TrustPolicy): Verifier | null {
  const own = logs.filter((key) => key.name === origin)
  return own.find((key) => note.signatures.some((one) => verifySignature(note.text, one, key) !== null)) ?? null
}

/** The same for an earlier checkpoint that the log continues; `past` keys are accepted too. */
export function signedBefore(note: Note, origin: string, policy: TrustPolicy): Verifier | null {
  return signedByLog(note, origin, { ...policy, logs: [...policy.logs, ...policy.past] })
}

export interface Witnessed {
  readonly name: string
  /** The time when it saw the checkpoint, seconds since 1970. */
  readonly time: number
}

/** The trusted witnesses that have signed the note. */
export function witnessesOf(note: Note, { witnesses }: TrustPolicy): Witnessed[] {
  return witnesses.flatMap(({ name, key }) => {
    const found = note.signatures.map((one) => verifySignature(note.text, one, key)).find((one) => one !== null)
    return found === undefined || found === null ? [] : [{ name, time: found.time ?? 0 }]
  })
}

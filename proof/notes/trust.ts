// A trust policy: whose word a verifier takes for a log, written down by whoever verifies and never taken from what is verified
// (the line format of C2SP tlog-policy).
import { type Note, parseVerifier, type Verifier, verifySignature } from './note.js'
import { smallOrderProblem } from './small-order.js'

export interface TrustPolicy {
  readonly logs: readonly Verifier[]
  /** Keys that signed a log before, such as one that was stolen: no bundle is taken on the word of one alone. */
  readonly past: readonly Verifier[]
  readonly witnesses: readonly NamedWitness[]
  /** How many witnesses must have signed a checkpoint, and which; null asks for none. */
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
 * Reads lines `log KEY`, `past KEY`, `witness NAME KEY`, `group NAME all|any|COUNT MEMBER…` and `quorum NAME|none`; what follows `#` is
 * a remark. Never throws.
 */
export function parseTrustPolicy(text: string): TrustReading {
  const errors: { line: number; message: string }[] = []
  const draft: Draft = { logs: [], past: [], witnesses: [], groups: new Map(), quorum: null }
  for (const [index, source] of text.split(/\r?\n/).entries()) {
    const [word = '', ...rest] = source.replace(/#.*/, '').trim().split(/\s+/)
    if (word === '') continue
    const problem = Object.hasOwn(words, word) ? words[word]?.(rest, draft) : undefined
    if (problem === null) continue
    errors.push({ line: index + 1, message: problem ?? `\`${word}\` is none of ${Object.keys(words).join(', ')}` })
  }
  if (draft.logs.length === 0 && errors.length === 0)
    errors.push({ line: 1, message: 'no log is named: add a line `log KEY` with the key of its checkpoints' })
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

/** What each line does with its words; answers what is wrong with them, or null. */
const words: Readonly<Record<string, (rest: string[], draft: Draft) => string | null>> = {
  log: ([key = '', ...rest], { logs }) => {
    const verifier = parseVerifier(key)
    if (verifier?.kind !== 'note' || rest.length > 1)
      return (
        smallOrderProblem(key) ??
        '`log` takes a key, `name+id+key`, and perhaps its address: it is the `key` of a checkpoint'
      )
    logs.push(verifier)
    return null
  },
  past: ([key = '', ...rest], { past }) => {
    const verifier = parseVerifier(key)
    if (verifier?.kind !== 'note' || rest.length > 1)
      return '`past` takes a key, `name+id+key`, that signed a log before'
    past.push(verifier)
    return null
  },
  witness: ([name = '', text = '', ...rest], { witnesses, groups }) => {
    const key = parseVerifier(text)
    if (key?.kind !== 'witness' || rest.length > 1)
      return (
        smallOrderProblem(text) ?? '`witness` takes a name, the key that the witness prints, and perhaps its address'
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
    if (parts.length < members.length) return `it names a member that no line before does`
    if (new Set(members).size < members.length) return 'it names a member twice'
    if (!(Number.isInteger(needed) && needed >= 1 && needed <= members.length))
      return '`group` takes a name, all, any or a count, and that many members or more'
    groups.set(name, { name, met: (signed) => parts.filter((part) => part.met(signed)).length >= needed })
    return null
  },
  quorum: ([name = ''], draft) => {
    draft.quorum = draft.groups.get(name) ?? null
    return draft.quorum === null && name !== 'none' ? `\`${name}\` is no witness or group of the lines before` : null
  },
}

function isTaken(name: string, groups: ReadonlyMap<string, Quorum>): boolean {
  return name === '' || name === 'none' || groups.has(name)
}

/** The log's own key among those that are trusted which has signed the note; null when none has. */
export function signedByLog(note: Note, origin: string, { logs }: TrustPolicy): Verifier | null {
  const own = logs.filter((key) => key.name === origin)
  return own.find((key) => note.signatures.some((one) => verifySignature(note.text, one, key) !== null)) ?? null
}

/** The same of an earlier checkpoint, which the log is shown to have grown out of: also keys of the past may have signed it. */
export function signedBefore(note: Note, origin: string, policy: TrustPolicy): Verifier | null {
  return signedByLog(note, origin, { ...policy, logs: [...policy.logs, ...policy.past] })
}

export interface Witnessed {
  readonly name: string
  /** When it saw the checkpoint, seconds since 1970. */
  readonly time: number
}

/** The trusted witnesses that have signed the note. */
export function witnessesOf(note: Note, { witnesses }: TrustPolicy): Witnessed[] {
  return witnesses.flatMap(({ name, key }) => {
    const found = note.signatures.map((one) => verifySignature(note.text, one, key)).find((one) => one !== null)
    return found === undefined || found === null ? [] : [{ name, time: found.time ?? 0 }]
  })
}

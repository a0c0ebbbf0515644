// The signer's record of a log: the last signed checkpoint and some earlier ones. The earlier ones reveal a database that was
// cut and rewritten below the last size.
import { readIfThere } from '@svc/engine/parts'
import { parseJson } from '@svc/proof'
import { PlatformError } from '../../errors.js'

export interface SignedSize {
  readonly size: number
  /** Hex. */
  readonly root: string
}

export interface SignedState extends SignedSize {
  readonly origin: string
  /** Ascending; bounded by `remembered`. */
  readonly earlier: readonly SignedSize[]
}

/** Reads a state; null when the file does not exist. Throws CONFLICT when it is damaged. */
export function stateIn(path: string): SignedState | null {
  const text = readIfThere(path)
  if (text === null) return null
  try {
    const { origin, earlier = [], ...last } = parseJson(text) as Partial<SignedState>
    if (typeof origin === 'string' && isSignedSize(last) && earlier.every(isSignedSize))
      return { origin, ...last, earlier }
  } catch {
    // Reported below, like a file of another shape.
  }
  throw new PlatformError(
    'CONFLICT',
    `\`${path}\` is damaged: it must hold the last signed checkpoint, and nothing is signed without it; restore it`,
  )
}

function isSignedSize(value: Partial<SignedSize>): value is SignedSize {
  return Number.isSafeInteger(value.size) && /^[0-9a-f]{64}$/.test(value.root ?? '')
}

/** The state after another signed checkpoint. */
export function stateAfter(before: SignedState | null, signed: SignedSize & { readonly origin: string }): SignedState {
  if (before === null) return { ...signed, earlier: [] }
  const { size, root, earlier } = before
  return { ...signed, earlier: remembered([...earlier, { size, root }], signed.size) }
}

/**
 * The sizes to keep: the first and the last of all sizes whose distances from the newest have the same power of two.
 * Gaps grow with the distance, and at most two sizes for each of 53 powers are kept.
 */
export function remembered(sizes: readonly SignedSize[], newest: number): SignedSize[] {
  const powers = new Map<number, SignedSize[]>()
  for (const one of [...sizes].sort((a, b) => a.size - b.size)) {
    if (one.size >= newest) continue
    const power = Math.floor(Math.log2(newest - one.size))
    const [first = one] = powers.get(power) ?? []
    powers.set(power, first.size === one.size ? [one] : [first, one])
  }
  return [...powers.values()].flat().sort((a, b) => a.size - b.size)
}

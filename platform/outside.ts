// Everything that the platform calls: witnesses, anchors, and the one door to the network.
import { smallOrderProblem } from '@svc/proof'
import { type Config, isLoopback } from './config.js'
import { PlatformError } from './errors.js'
import type { Anchor, AnchorContext } from './log/publish/anchors/anchor.js'
import { type Anchors, anchorForms, createAnchors, parseAnchor } from './log/publish/anchors/anchors.js'
import { parseWitness, type WitnessAddress } from './log/publish/witnesses.js'
import { createOutgoing, type Outgoing } from './outgoing/outgoing.js'
import { createTargets } from './outgoing/targets.js'

export interface Outside {
  readonly outgoing: Outgoing
  readonly anchors: Anchors
  readonly witnesses: readonly WitnessAddress[]
}

/** Throws INVALID for an address that is invalid or that must not be called, before anything is opened. */
export function openOutside(config: Config, warn: (message: string) => void): Outside {
  const outgoing = createOutgoing(createTargets(config.private_targets, isLoopback(config)))
  const anchors = createAnchors(
    config.anchors.map((text) => anchorAt(text, { env: config.inherited, outgoing })),
    warn,
  )
  return { outgoing, anchors, witnesses: config.witnesses.map((text) => witnessAt(text, outgoing)) }
}

function witnessAt(text: string, { targets }: Outgoing): WitnessAddress {
  const witness = parseWitness(text)
  const problem = witness === null ? null : targets.problemOf(witness.url)
  if (problem !== null)
    throw new PlatformError('INVALID', `SVC_WITNESSES contains an address that must not be called: ${problem}`)
  if (witness !== null) return witness
  const weak = smallOrderProblem(text.split(/#(.*)/s)[1] ?? '')
  if (weak !== null) throw new PlatformError('INVALID', `SVC_WITNESSES: ${weak}`)
  throw new PlatformError(
    'INVALID',
    `SVC_WITNESSES contains \`${text}\`: write \`URL#KEY\` with the key that the witness prints`,
  )
}

function anchorAt(text: string, around: AnchorContext): Anchor {
  try {
    const anchor = parseAnchor(text, around)
    if (anchor !== null) return anchor
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new PlatformError('INVALID', `SVC_ANCHORS contains an address that must not be called: ${problem}`)
  }
  throw new PlatformError('INVALID', `SVC_ANCHORS contains \`${text}\`: write ${anchorForms}`)
}

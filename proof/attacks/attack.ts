// An attack is data: the access that it needs, the change that it makes, and the result for three kinds of auditors.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTrustPolicy } from '../notes/trust.js'
import { taskVerifier } from '../record/verify.js'
import { verifyBundle } from '../verify/verify.js'
import type { World } from './world.js'

/**
 * The kinds of auditors. chain: walks the stored hash chain of each task. checkpoints: also verifies a bundle with the log's key
 * and keeps the checkpoint of each bundle. witness: also requires the signature of a witness.
 */
export const layers = ['chain', 'checkpoints', 'witness'] as const
export type Layer = (typeof layers)[number]

/** `withstood`: the attack cannot succeed. `not applicable`: the auditor does not read what the attack changes. */
export type Outcome = 'found' | 'withstood' | 'not found' | 'not applicable'

/** Every kind of auditor finds the attack. */
export const byChain = { chain: 'found', checkpoints: 'found', witness: 'found' } as const

/** An auditor with checkpoints finds the attack. */
export const byCheckpoint = { chain: 'not found', checkpoints: 'found', witness: 'found' } as const

export interface Attack {
  readonly name: string
  /** The change, in one sentence. */
  readonly description: string
  /** The parts that the attacker controls. */
  readonly access: 'the database' | 'the database and the key' | 'the file' | 'nothing'
  readonly expected: Readonly<Record<Layer, Outcome>>
  /** Performs the attack. Returned outcomes replace those of the audit, for attacks on something other than the log. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most attacks change the world and return nothing
  readonly run: (world: World) => void | Partial<Record<Layer, Outcome>> | Promise<Partial<Record<Layer, Outcome>>>
}

export interface Result {
  readonly outcome: Outcome
  /** Codes of the findings. */
  readonly codes: readonly string[]
}

/** Runs the attack and each kind of audit. */
export async function runAttack(attack: Attack, world: World): Promise<Readonly<Record<Layer, Result>>> {
  const outcomes = (await attack.run(world)) ?? {}
  const byChain = chainCodes(world)
  const rejected = attack.access === 'the database' && !world.publish() ? ['log.fork_refused'] : []
  const withKey = [...byChain, ...rejected, ...(await bundleCodes(world, false))]
  const withWitness = [...byChain, ...rejected, ...(await bundleCodes(world, true))]
  const result = (layer: Layer, codes: readonly string[]): Result => {
    const found = codes.length > 0 ? 'found' : 'not found'
    return { outcome: outcomes[layer] ?? found, codes: [...new Set(codes)] }
  }
  return {
    chain: result('chain', byChain),
    checkpoints: result('checkpoints', withKey),
    witness: result('witness', withWitness),
  }
}

/** Findings of the walk over the chains, which reads only the rows of each task. */
function chainCodes({ store }: World): string[] {
  const tasks = new Set([...store.heads.keys(), ...store.entries.map(({ task_id }) => task_id)])
  const published = new Map(store.entries.flatMap(({ record }) => afterOf(record)))
  return [...tasks].flatMap((task_id) => {
    const org_id = store.heads.get(task_id)?.org_id ?? ''
    const verifier = taskVerifier(org_id, task_id)
    for (const entry of store.entries.filter((one) => one.task_id === task_id).sort((a, b) => a.seq - b.seq)) {
      const leaf = { log_index: entry.log_index, type: 'step', leaf_hash: entry.hash, received_at: entry.received_at }
      verifier.add(entry, store.payloads.get(entry.log_index) ?? null, leaf, { published, is_erased: () => false })
    }
    const { integrity, sequence } = verifier.finish(store.heads.get(task_id) ?? null, {
      anchoring: 'none',
      not_signed: null,
    })
    return [
      ...(integrity.first_bad === null ? [] : [integrity.first_bad.code]),
      ...sequence.issues.map(({ code }) => code),
    ]
  })
}

/** The chain auditor has no checkpoints and treats every one that a record names as published. */
function afterOf(record: string): (readonly [number, string[]])[] {
  const [, root, size] = /^\{"after":\{"root":"([0-9a-f]{64})","size":(\d+)\}/.exec(record) ?? []
  return root === undefined ? [] : [[Number(size), [root]]]
}

async function bundleCodes(world: World, witnessed: boolean): Promise<string[]> {
  return findingsIn(world.bundle(), world, witnessed)
}

/** Codes of the findings of the auditor's verifier in a file. */
export async function findingsIn(bundle: Uint8Array, world: World, witnessed: boolean): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-attack-'))
  try {
    const path = join(folder, 'bundle.zip')
    writeFileSync(path, bundle)
    const { value: policy } = parseTrustPolicy(world.trust(witnessed))
    const { findings, container } = await verifyBundle({ path, policy, since: world.kept })
    return [...findings.map(({ code }) => code), ...(container === 'repacked' ? ['container'] : [])]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

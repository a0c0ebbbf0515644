// An attack is data: who could do it, what is done, and what three kinds of auditors make of it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTrustPolicy } from '../notes/trust.js'
import { taskVerifier } from '../record/verify.js'
import { verifyBundle } from '../verify/verify.js'
import type { World } from './world.js'

/**
 * chain: walks each task's hash chain, as it is stored. checkpoints: also verifies a bundle with the log's key, and keeps the
 * checkpoint of each. witness: also asks for the signature of a witness.
 */
export const layers = ['chain', 'checkpoints', 'witness'] as const
export type Layer = (typeof layers)[number]

/** `found`: it is seen that something is wrong. `withstood`: it cannot succeed. `none`: there is nothing it could be done to. */
export type Outcome = 'found' | 'withstood' | 'not found' | 'none'

export interface Attack {
  readonly name: string
  /** What is done, in one sentence. */
  readonly what: string
  /** What the attacker has. */
  readonly with: 'the database' | 'the database and the key' | 'the file' | 'nothing'
  readonly expected: Readonly<Record<Layer, Outcome>>
  /** Does it; what is answered decides instead of looking at the log where an attack is on something else. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most attacks change the world and have nothing to say
  readonly act: (world: World) => void | Partial<Record<Layer, Outcome>> | Promise<Partial<Record<Layer, Outcome>>>
}

export interface Judged {
  readonly outcome: Outcome
  /** Codes of what was found. */
  readonly codes: readonly string[]
}

/** Does the attack and asks each kind of auditor. */
export async function judged(attack: Attack, world: World): Promise<Readonly<Record<Layer, Judged>>> {
  const said = (await attack.act(world)) ?? {}
  const byChain = chainCodes(world)
  const refused = attack.with === 'the database' && !world.publish() ? ['log.fork_refused'] : []
  const withKey = [...byChain, ...refused, ...(await bundleCodes(world, false))]
  const withWitness = [...byChain, ...refused, ...(await bundleCodes(world, true))]
  const verdict = (layer: Layer, codes: readonly string[]): Judged => {
    const found = codes.length > 0 ? 'found' : 'not found'
    return { outcome: said[layer] ?? found, codes: [...new Set(codes)] }
  }
  return {
    chain: verdict('chain', byChain),
    checkpoints: verdict('checkpoints', withKey),
    witness: verdict('witness', withWitness),
  }
}

/** What walking the chains finds: everything a task's own rows can tell, and nothing else. */
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

/** A chain knows no checkpoints: whatever a record names, it takes for published. */
function afterOf(record: string): (readonly [number, string[]])[] {
  const [, root, size] = /^\{"after":\{"root":"([0-9a-f]{64})","size":(\d+)\}/.exec(record) ?? []
  return root === undefined ? [] : [[Number(size), [root]]]
}

async function bundleCodes(world: World, witnessed: boolean): Promise<string[]> {
  return verdictOn(world.bundle(), world, witnessed)
}

/** What the auditor's verifier says of a file. */
export async function verdictOn(bundle: Uint8Array, world: World, witnessed: boolean): Promise<string[]> {
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

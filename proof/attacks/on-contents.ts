// Attacks on columns, payloads and policies, on proofs, and on the bundle itself.
import { canonical } from '../json/canonical.js'
import { bytesOfHex, sha256Hex } from '../json/hex.js'
import { signerOf } from '../notes/note.js'
import { commitment, leafHash } from '../record/record.js'
import { nodeHash, verifyInclusion } from '../tree/merkle.js'
import { type Attack, byChain, byCheckpoint, findingsIn, type Outcome } from './attack.js'
import type { World } from './world.js'

const withstood = { chain: 'withstood', checkpoints: 'withstood', witness: 'withstood' } as const
const onProofs = { chain: 'not applicable', checkpoints: 'withstood', witness: 'withstood' } as const
const onFiles = { chain: 'not applicable', checkpoints: 'found', witness: 'found' } as const
const database = 'the database'
const deletion = 3

export const onContents: readonly Attack[] = [
  {
    name: 'change a projection',
    description: 'the column that lists and filters read is changed, so that it differs from the record',
    access: database,
    expected: byChain,
    run: ({ store }) => {
      store.entries = store.entries.map((entry, at) =>
        at === deletion ? { ...entry, step_type: 'step.model' } : entry,
      )
    },
  },
  {
    name: 'change heads and counters',
    description: 'the head of a task gets a count that is one step lower',
    access: database,
    expected: byChain,
    run: ({ store }) => {
      const head = store.heads.get('task-1')
      if (head !== undefined) store.heads.set('task-1', { ...head, seq: head.seq - 1 })
    },
  },
  {
    name: 'delete a payload',
    description: 'the payload of a step is emptied without an erasure in the log',
    access: database,
    expected: byChain,
    run: ({ store }) => {
      const payload = store.payloads.get(deletion)
      if (payload !== undefined) store.payloads.set(deletion, { ...payload, salts: null, body: null })
    },
  },
  {
    name: 'swap payloads',
    description: 'the payloads of two steps are exchanged',
    access: database,
    expected: byChain,
    run: ({ store }) => {
      const [one, other] = [store.payloads.get(1), store.payloads.get(deletion)]
      if (one === undefined || other === undefined) return
      store.payloads.set(1, { ...one, salts: other.salts, body: other.body })
      store.payloads.set(deletion, { ...other, salts: one.salts, body: one.body })
    },
  },
  {
    name: 'guess an erased value',
    description: 'every known customer is tried against the commitment that remains after an erasure',
    access: database,
    expected: withstood,
    run: ({ store }) => {
      const record = String(store.entries[1]?.record)
      const customers = ['mia_li_3668', 'raj_sanchez_7340', 'sofia_kim_7287'].map((user) => ({ user }))
      const tries = customers.flatMap((value) => [
        sha256Hex(canonical(value)),
        commitment('input', value, Buffer.alloc(32)),
        commitment('input', value, Buffer.alloc(0)),
      ])
      return all(tries.some((guess) => record.includes(guess)) ? 'not found' : 'withstood')
    },
  },
  {
    name: 'move a field boundary',
    description: 'bytes are moved from a value into the name of its field',
    access: database,
    expected: withstood,
    run: () => {
      const salt = Buffer.alloc(32, 1)
      const pairs = [
        ['ab', 'c'],
        ['a', 'bc'],
        ['', 'abc'],
        ['ab\0', 'c'],
        ['ab', '\0c'],
      ] as const
      const distinct = new Set(pairs.map(([field, value]) => commitment(field, value, salt)))
      return all(distinct.size === pairs.length ? 'withstood' : 'not found')
    },
  },
  {
    name: 'show a node as an entry',
    description: 'an inner node of the tree is presented as the hash of an entry',
    access: 'nothing',
    expected: onProofs,
    run: ({ store }) => {
      const [a, b, c, d] = store.leaves.map(({ leaf_hash }) => bytesOfHex(leaf_hash))
      if (!a || !b || !c || !d) return
      const [left, right] = [nodeHash(a, b), nodeHash(c, d)]
      const entry = Buffer.concat([a, b]).toString('latin1')
      const passes = verifyInclusion(bytesOfHex(leafHash(entry)), 0, 2, [right], nodeHash(left, right))
      return proof(passes ? 'not found' : 'withstood')
    },
  },
  {
    name: 'two readings of a record',
    description: 'a record with a duplicate member is hashed and stored, so that two readers see different steps',
    access: database,
    expected: byChain,
    run: (world) => ambiguous(world, (text) => text.replace('"agent_id"', '"agent_id":"ag_9","agent_id"')),
  },
  {
    name: 'numbers that readers round',
    description: 'a record with an integer beyond 2^53 is hashed and stored',
    access: database,
    expected: byChain,
    run: (world) => ambiguous(world, (text) => text.replace(/"step":\d+/, '"step":9007199254740993')),
  },
  {
    name: 'lone surrogates',
    description: 'a record with half of a surrogate pair is hashed and stored, which readers replace differently',
    access: database,
    expected: byChain,
    run: (world) => ambiguous(world, (text) => text.replace('step.resource', 'step.resource\\ud800')),
  },
  {
    name: 'fake proof',
    description: 'a proof is forged for an entry that was never logged',
    access: 'nothing',
    expected: onProofs,
    run: ({ store, latest }) => {
      const leaves = store.leaves.map(({ leaf_hash }) => bytesOfHex(leaf_hash))
      const forged = bytesOfHex(leafHash('{"type":"step"}'))
      const root = bytesOfHex(latest.root)
      const proofs = [[], leaves.slice(0, 1), leaves.slice(0, 4), leaves.slice(0, 5), [root], [forged, root]]
      const passes = leaves.some((_, index) =>
        proofs.some((one) => verifyInclusion(forged, index, latest.size, one, root)),
      )
      return proof(passes ? 'not found' : 'withstood')
    },
  },
  {
    name: 'another log or key',
    description: "the attacker makes a bundle with the attacker's own key in it",
    access: 'the file',
    expected: onFiles,
    run: async (world) => {
      const own = signerOf('log.example/org/org_0a1b2c/1', 'note', Buffer.alloc(32, 5))
      const other = signerOf('log.example/org/org_ffffff/1', 'note', Buffer.alloc(32, 5))
      const bundles = [world.bundle(own), world.bundle(other, 'log.example/org/org_ffffff/1')]
      return byFile(world, bundles)
    },
  },
  {
    name: 'stale checkpoint',
    description: 'the bundle of an hour ago is delivered again, without the entries since',
    access: 'the file',
    expected: onFiles,
    run: (world) => {
      const now = world.checkpoints
      world.checkpoints = now.slice(0, 1)
      const old = world.bundle()
      world.checkpoints = now
      return byFile(world, [old])
    },
  },
  {
    name: 'bit rot',
    description: 'one bit of a record changes on the disk',
    access: database,
    expected: byChain,
    run: ({ store }) => {
      store.entries = store.entries.map((entry, at) =>
        at === deletion ? { ...entry, record: entry.record.replace('ag_1', 'ag_0') } : entry,
      )
    },
  },
  {
    name: 'bit rot of a bundle',
    description: 'one bit of the file changes, at each of a hundred offsets in turn',
    access: 'the file',
    expected: onFiles,
    run: (world) => {
      const intact = world.bundle()
      const offsets = Array.from({ length: 100 }, (_, at) => Math.floor(((at + 0.5) * intact.length) / 100))
      const damaged = offsets.map((at) => {
        const bytes = Buffer.from(intact)
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at)
        return bytes
      })
      return byFile(world, damaged)
    },
  },
  {
    name: 'change a policy afterwards',
    description: 'the policies that steps were evaluated against are replaced with stricter ones',
    access: database,
    expected: byCheckpoint,
    run: (world) => {
      world.policy_sets = world.policy_sets.map((text) => text.replace('deletion', 'export'))
    },
  },
  {
    name: 'change the history of an incident',
    description: 'an ignored incident becomes a resolved one',
    access: database,
    expected: byCheckpoint,
    run: ({ store }) => {
      for (const [at, payload] of store.payloads)
        store.payloads.set(at, { ...payload, body: payload.body?.replace('ignored', 'resolved') ?? null })
    },
  },
]

function all(outcome: Outcome) {
  return { chain: outcome, checkpoints: outcome, witness: outcome }
}

function proof(outcome: Outcome) {
  return { chain: 'not applicable', checkpoints: outcome, witness: outcome } as const
}

/** `found` when the verifier rejects every one of these files. */
async function byFile(world: World, bundles: readonly Uint8Array[]) {
  const outcome = async (witnessed: boolean): Promise<Outcome> => {
    for (const bundle of bundles) if ((await findingsIn(bundle, world, witnessed)).length === 0) return 'not found'
    return 'found'
  }
  return { chain: 'not applicable', checkpoints: await outcome(false), witness: await outcome(true) } as const
}

/** Rewrites the text of a record and recomputes its hashes. */
function ambiguous(world: World, write: (text: string) => string): void {
  const { store } = world
  const entry = store.entries[deletion]
  if (entry === undefined) return
  const record = write(entry.record)
  const hash = leafHash(record)
  store.entries = store.entries.map((one, at) => (at === deletion ? { ...one, record, hash } : one))
  store.leaves = store.leaves.map((leaf) => (leaf.log_index === deletion ? { ...leaf, leaf_hash: hash } : leaf))
}

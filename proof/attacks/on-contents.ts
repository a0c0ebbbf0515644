// Attacks on what stands beside the entries, on what they carry, and on the file that an auditor is handed.
import { createHash } from 'node:crypto'
import { canonical } from '../json/canonical.js'
import { signerOf } from '../notes/note.js'
import { commitment, leafHash } from '../record/record.js'
import { nodeHash, verifyInclusion } from '../tree/merkle.js'
import { type Attack, type Outcome, verdictOn } from './attack.js'
import type { World } from './world.js'

const byChain = { chain: 'found', checkpoints: 'found', witness: 'found' } as const
const byCheckpoint = { chain: 'not found', checkpoints: 'found', witness: 'found' } as const
const withstood = { chain: 'withstood', checkpoints: 'withstood', witness: 'withstood' } as const
const onProofs = { chain: 'none', checkpoints: 'withstood', witness: 'withstood' } as const
const onFiles = { chain: 'none', checkpoints: 'found', witness: 'found' } as const
const database = 'the database'
const deletion = 3

export const onContents: readonly Attack[] = [
  {
    name: 'change a projection',
    what: 'the column that lists and filters read says something else than the record',
    with: database,
    expected: byChain,
    act: ({ store }) => {
      store.entries = store.entries.map((entry, at) =>
        at === deletion ? { ...entry, step_type: 'step.model' } : entry,
      )
    },
  },
  {
    name: 'change heads and counters',
    what: 'the head of a task is made to count one step less',
    with: database,
    expected: byChain,
    act: ({ store }) => {
      const head = store.heads.get('task-1')
      if (head !== undefined) store.heads.set('task-1', { ...head, seq: head.seq - 1 })
    },
  },
  {
    name: 'delete a payload',
    what: 'what a step carried is emptied, and nothing says that it was erased',
    with: database,
    expected: byChain,
    act: ({ store }) => {
      const payload = store.payloads.get(deletion)
      if (payload !== undefined) store.payloads.set(deletion, { ...payload, salts: null, body: null })
    },
  },
  {
    name: 'swap payloads',
    what: 'two steps exchange what they carried',
    with: database,
    expected: byChain,
    act: ({ store }) => {
      const [one, other] = [store.payloads.get(1), store.payloads.get(deletion)]
      if (one === undefined || other === undefined) return
      store.payloads.set(1, { ...one, salts: other.salts, body: other.body })
      store.payloads.set(deletion, { ...other, salts: one.salts, body: one.body })
    },
  },
  {
    name: 'guess an erased value',
    what: 'every customer there is is tried against the commitment that an erasure leaves behind',
    with: database,
    expected: withstood,
    act: ({ store }) => {
      const left = String(store.entries[1]?.record)
      const customers = ['mia_li_3668', 'raj_sanchez_7340', 'sofia_kim_7287'].map((user) => ({ user }))
      const tries = customers.flatMap((value) => [
        createHash('sha256').update(canonical(value)).digest('hex'),
        commitment('input', value, Buffer.alloc(32)),
        commitment('input', value, Buffer.alloc(0)),
      ])
      return all(tries.some((guess) => left.includes(guess)) ? 'not found' : 'withstood')
    },
  },
  {
    name: 'move a field boundary',
    what: 'a value is made to begin in the name of its field',
    with: database,
    expected: withstood,
    act: () => {
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
    what: 'an inner node of the tree is passed off as the hash of an entry, one level higher',
    with: 'nothing',
    expected: onProofs,
    act: ({ store }) => {
      const [a, b, c, d] = store.leaves.map(({ leaf_hash }) => Buffer.from(leaf_hash, 'hex'))
      if (!a || !b || !c || !d) return
      const [left, right] = [nodeHash(a, b), nodeHash(c, d)]
      const entry = Buffer.concat([a, b]).toString('latin1')
      const passes = verifyInclusion(Buffer.from(leafHash(entry), 'hex'), 0, 2, [right], nodeHash(left, right))
      return proof(passes ? 'not found' : 'withstood')
    },
  },
  {
    name: 'two readings of a record',
    what: 'a record with a member twice, hashed and stored as if it were one: each reader sees another step',
    with: database,
    expected: byChain,
    act: (world) => ambiguous(world, (text) => text.replace('"agent_id"', '"agent_id":"ag_9","agent_id"')),
  },
  {
    name: 'numbers that readers round',
    what: 'a record with an integer beyond 2^53, hashed and stored as it is',
    with: database,
    expected: byChain,
    act: (world) => ambiguous(world, (text) => text.replace(/"step":\d+/, '"step":9007199254740993')),
  },
  {
    name: 'lone surrogates',
    what: 'a record with half a character, which readers replace as they like',
    with: database,
    expected: byChain,
    act: (world) => ambiguous(world, (text) => text.replace('step.resource', 'step.resource\\ud800')),
  },
  {
    name: 'fake proof',
    what: 'a proof is handed out for an entry that was never logged',
    with: 'nothing',
    expected: onProofs,
    act: ({ store, latest }) => {
      const leaves = store.leaves.map(({ leaf_hash }) => Buffer.from(leaf_hash, 'hex'))
      const forged = Buffer.from(leafHash('{"type":"step"}'), 'hex')
      const root = Buffer.from(latest.root, 'hex')
      const proofs = [[], leaves.slice(0, 1), leaves.slice(0, 4), leaves.slice(0, 5), [root], [forged, root]]
      const passes = leaves.some((_, index) =>
        proofs.some((one) => verifyInclusion(forged, index, latest.size, one, root)),
      )
      return proof(passes ? 'not found' : 'withstood')
    },
  },
  {
    name: 'another log or key',
    what: "a bundle of the attacker's own making, with the attacker's key in it",
    with: 'the file',
    expected: onFiles,
    act: async (world) => {
      const own = signerOf('log.example/org/org_0a1b2c/1', 'note', Buffer.alloc(32, 5))
      const other = signerOf('log.example/org/org_ffffff/1', 'note', Buffer.alloc(32, 5))
      const bundles = [world.bundle(own), world.bundle(other, 'log.example/org/org_ffffff/1')]
      return byFile(world, bundles)
    },
  },
  {
    name: 'stale checkpoint',
    what: 'the bundle of an hour ago is handed out once more, as if nothing had come since',
    with: 'the file',
    expected: onFiles,
    act: (world) => {
      const now = world.checkpoints
      world.checkpoints = now.slice(0, 1)
      const old = world.bundle()
      world.checkpoints = now
      return byFile(world, [old])
    },
  },
  {
    name: 'bit rot',
    what: 'one bit of a record is lost on the disk',
    with: database,
    expected: byChain,
    act: ({ store }) => {
      store.entries = store.entries.map((entry, at) =>
        at === deletion ? { ...entry, record: entry.record.replace('ag_1', 'ag_0') } : entry,
      )
    },
  },
  {
    name: 'bit rot of a bundle',
    what: 'one bit of the file is lost on its way, in each of a hundred places in turn',
    with: 'the file',
    expected: onFiles,
    act: (world) => {
      const sound = world.bundle()
      const places = Array.from({ length: 100 }, (_, at) => Math.floor(((at + 0.5) * sound.length) / 100))
      const rotten = places.map((at) => {
        const bytes = Buffer.from(sound)
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at)
        return bytes
      })
      return byFile(world, rotten)
    },
  },
  {
    name: 'change a policy afterwards',
    what: 'the policies that steps were judged by are replaced with stricter ones',
    with: database,
    expected: byCheckpoint,
    act: (world) => {
      world.policy_sets = world.policy_sets.map((text) => text.replace('deletion', 'export'))
    },
  },
  {
    name: 'change the history of an incident',
    what: 'an incident that was ignored is made to say that it was resolved',
    with: database,
    expected: byCheckpoint,
    act: ({ store }) => {
      for (const [at, payload] of store.payloads)
        store.payloads.set(at, { ...payload, body: payload.body?.replace('ignored', 'resolved') ?? null })
    },
  },
]

function all(outcome: Outcome) {
  return { chain: outcome, checkpoints: outcome, witness: outcome }
}

function proof(outcome: Outcome) {
  return { chain: 'none', checkpoints: outcome, witness: outcome } as const
}

/** Whether every one of these files is refused. */
async function byFile(world: World, bundles: readonly Uint8Array[]) {
  const outcome = async (witnessed: boolean): Promise<Outcome> => {
    for (const bundle of bundles) if ((await verdictOn(bundle, world, witnessed)).length === 0) return 'not found'
    return 'found'
  }
  return { chain: 'none', checkpoints: await outcome(false), witness: await outcome(true) } as const
}

/** A record that is written another way, with every hash made to fit it. */
function ambiguous(world: World, write: (text: string) => string): void {
  const { store } = world
  const entry = store.entries[deletion]
  if (entry === undefined) return
  const record = write(entry.record)
  const hash = leafHash(record)
  store.entries = store.entries.map((one, at) => (at === deletion ? { ...one, record, hash } : one))
  store.leaves = store.leaves.map((leaf) => (leaf.log_index === deletion ? { ...leaf, leaf_hash: hash } : leaf))
}

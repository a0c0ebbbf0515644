// A log, its signer, a witness and an auditor, each with their own state. An attack reads or changes state of the others.
import { randomBytes } from 'node:crypto'
import type { LeafRecord, LogRecord } from '@svc/schemas'
import { type BundledCheckpoint, bundleFiles, payloadLine } from '../bundle/bundle.js'
import { canonical } from '../json/canonical.js'
import { bytesOfHex, hexOf } from '../json/hex.js'
import { evaluateAddCheckpoint, type Seen } from '../notes/add-checkpoint.js'
import {
  formatCheckpoint,
  formatNote,
  formatVerifier,
  type Note,
  type Signer,
  signerOf,
  signText,
} from '../notes/note.js'
import { commitment, leafHash, noCheckpoint, policySetDigest, saltBytes } from '../record/record.js'
import { consistencyRanges, Frontier, type Hash, type Range, verifyConsistency } from '../tree/merkle.js'
import { packBundle } from './pack.js'
import { type Item, recordAt, type Store, storeOf } from './store.js'

export const org_id = 'org_0a1b2c'
const originOf = (epoch: number) => `log.example/org/${org_id}/${epoch}`
export const origin = originOf(1)
const began = Date.UTC(2026, 2, 2, 9)
const policies = canonical([{ id: 1, name: 'no deletion without approval', rule_type: 'step_requires_predecessor' }])

export interface Checkpoint extends BundledCheckpoint {
  readonly note: string
}

export class World {
  items: Item[] = []
  store: Store = storeOf([])
  checkpoints: Checkpoint[] = []
  policy_sets = [policies]
  /** Kept outside the database: the key of the signer, its epoch of the log, and its last checkpoint. */
  readonly #seed = randomBytes(32)
  epoch = 1
  signed: { readonly size: number; readonly root: Hash } | null = null
  /** Runs outside the installation. */
  readonly witness: Signer = signerOf('witness.example', 'witness', randomBytes(32))
  #seen: Seen | null = null
  #waited = 0
  /** Kept by the auditor: the checkpoint of the last bundle. */
  kept: string | null = null

  get origin(): string {
    return originOf(this.epoch)
  }

  get signer(): Signer {
    return signerOf(this.origin, 'note', this.#seed)
  }

  /** Begins another epoch over the stored rows without comparing them with the last checkpoint. */
  restart(data: Readonly<Record<string, unknown>> = {}): void {
    const { size, root } = this.signed ?? { size: 0, root: null }
    const old = { old_origin: this.origin, old_size: size, old_root: root === null ? null : hexOf(root) }
    this.epoch += 1
    this.signed = null
    const restarted = { reason: 'the disk failed', origin: this.origin, ...old, size: this.items.length, ...data }
    const event = {
      at: this.now(),
      actor: { kind: 'operator', id: 'local' },
      id: 'evt_1',
      kind: 'log.restarted',
      data: restarted,
    }
    this.leaf('event', 'evt_1', { event })
    this.sign()
  }

  /** Logs a step as the platform does. */
  step(task_id: string, step_type: string, values: Readonly<Record<string, unknown>>): void {
    const own = this.store.heads.get(task_id)
    const { data: commitments, ...payload } = committed({ ...values, evaluation: [] })
    const { evaluation = '', ...data } = commitments
    const record: LogRecord = {
      v: 'svc.log/1',
      type: 'step',
      org_id,
      agent_id: 'ag_1',
      task_id,
      seq: 0,
      step: (own?.max_step ?? 0) + 1,
      step_type,
      timestamp: this.now(),
      received_at: this.now(),
      is_external_call: false,
      has_write_permission: false,
      prev_hash: '',
      api_key_id: 'key_1',
      policy_set: policySetDigest(policies),
      evaluation,
      data,
      after: this.#after(),
    }
    this.#append({ record, ...payload })
  }

  /** Logs a leaf that is not a step. */
  leaf(type: LeafRecord['type'], subject_id: string, values: Readonly<Record<string, unknown>>): void {
    const { data, ...payload } = committed(values)
    const received_at = this.now()
    this.#append({
      record: { v: 'svc.log/1', type, org_id, received_at, subject_id, data, after: this.#after() },
      ...payload,
    })
  }

  /** Moves the time of the next leaf by days. */
  wait(days: number): void {
    this.#waited += days * 86_400_000
  }

  /** One minute for each leaf, plus the waits. */
  now(): string {
    return new Date(began + this.items.length * 60_000 + this.#waited).toISOString()
  }

  /** Replaces all rows with those of these items. */
  rewrite(items: readonly Item[]): void {
    this.items = [...items]
    this.store = storeOf(this.items)
  }

  /** Hashes all records again and signs if the log continues the last checkpoint; false if it does not. */
  publish(): boolean {
    const { leaves } = this.store
    const intact = leaves.every(
      ({ leaf_hash, log_index }, at) => at === log_index && leafHash(recordAt(this.store, at)) === leaf_hash,
    )
    const size = leaves.length
    const root = this.#rootOf({ from: 0, to: size })
    const before = this.signed
    const proof = before === null || before.size > size ? [] : this.#proof(before.size, size)
    if (!intact || (before !== null && !verifyConsistency(before.size, size, proof, before.root, root))) return false
    this.sign()
    return true
  }

  /** Signs the stored rows without a check, as an attacker with the key can; the witness also signs if it accepts. */
  sign(size = this.store.leaves.length): void {
    const root = this.#rootOf({ from: 0, to: size })
    const { origin } = this
    const text = formatCheckpoint({ origin, size, root })
    const note: Note = { text, signatures: [signText(text, this.signer)] }
    const old = this.#seen?.size ?? 0
    const proof = old === 0 || old > size ? [] : this.#proof(old, size)
    const request = { old: Math.min(old, size), proof, note, checkpoint: { origin, size, root } }
    const accepts = evaluateAddCheckpoint(request, [this.signer.verifier], this.#seen).kind === 'sign'
    const seconds = began / 1000 + size
    const signatures = [...note.signatures, ...(accepts ? [signText(text, this.witness, seconds)] : [])]
    if (accepts) this.#seen = { size, root }
    this.signed = { size, root }
    this.checkpoints = [
      ...this.checkpoints.filter((one) => one.size !== size),
      { size, root: hexOf(root), note: formatNote({ text, signatures }) },
    ]
  }

  get latest(): Checkpoint {
    const latest = this.checkpoints.at(-1)
    if (latest === undefined) throw new Error('no checkpoint has been signed yet')
    return latest
  }

  /** The bundle of all signed entries, as the platform makes it from the stored rows. */
  bundle(signer: Signer = this.signer, named: string = this.origin): Buffer {
    const { size, root, note } = this.latest
    const lines = (texts: readonly string[]) => Buffer.from(texts.map((text) => `${text}\n`).join(''))
    const indexes = Array.from({ length: size }, (_, at) => at)
    const payloads = indexes.map((at) => this.store.payloads.get(at))
    const contents = new Map<string, Uint8Array>([
      [bundleFiles.how, lines(['A bundle of a demonstration.'])],
      [bundleFiles.note, Buffer.from(note)],
      [bundleFiles.checkpoints, lines(this.checkpoints.map((one) => canonical(one)))],
      [bundleFiles.records, lines(indexes.map((at) => recordAt(this.store, at)))],
      [bundleFiles.payloads, lines(payloads.map((one) => payloadLine(one?.salts ?? null, one?.body ?? null)))],
      [bundleFiles.policy_sets, lines(this.policy_sets)],
      [bundleFiles.leaves, Buffer.concat(indexes.map((at) => this.#leafAt(at)))],
    ])
    const all = { first: 0, end: size }
    const head = {
      origin: named,
      org_id,
      made_at: this.now(),
      period: { from: null, to: null },
      entries: all,
      records: all,
    }
    return packBundle({ ...head, checkpoint: { size, root } }, contents, signer)
  }

  /** The auditor's trust policy: the log's keys, and the witness's key if `witnessed`. */
  trust(witnessed: boolean): string {
    const witness = `witness w ${formatVerifier(this.witness.verifier)}\nquorum w\n`
    const epochs = Array.from({ length: this.epoch }, (_, at) => signerOf(originOf(at + 1), 'note', this.#seed))
    const logs = epochs.map(({ verifier }) => `log ${formatVerifier(verifier)}\n`).join('')
    return `${logs}${witnessed ? witness : ''}`
  }

  #append(item: Item): void {
    this.rewrite([...this.items, item])
  }

  #after(): { readonly size: number; readonly root: string } {
    const last = this.checkpoints.at(-1)
    return last === undefined ? noCheckpoint : { size: last.size, root: last.root }
  }

  #leafAt(at: number): Hash {
    return bytesOfHex(this.store.leaves.find(({ log_index }) => log_index === at)?.leaf_hash ?? '0'.repeat(64))
  }

  #rootOf({ from, to }: Range): Hash {
    const tree = new Frontier(0, [])
    for (let at = from; at < to; at++) tree.add(this.#leafAt(at))
    return tree.root()
  }

  #proof(first: number, second: number): Hash[] {
    return consistencyRanges(first, second).map((range) => this.#rootOf(range))
  }
}

/** Commitments, salts and values of a payload. */
function committed(values: Readonly<Record<string, unknown>>) {
  const salts = Object.fromEntries(Object.keys(values).map((field) => [field, randomBytes(saltBytes)]))
  const data = Object.entries(salts).map(([field, salt]) => [field, commitment(field, values[field], salt)] as const)
  const written = Object.fromEntries(Object.entries(salts).map(([field, salt]) => [field, hexOf(salt)]))
  return {
    data: Object.fromEntries(data) as Record<string, string>,
    salts: canonical(written),
    body: canonical(values),
  }
}

/** Three tasks of a support agent and the history of an incident; the auditor's last bundle is older than the third task. */
export function newWorld(): World {
  const world = new World()
  const task = (task_id: string, user: string) => {
    world.step(task_id, 'START_NODE', { step_name: 'support request' })
    world.step(task_id, 'step.tool', { verb: 'GET', step_name: 'read_customer', input: { user } })
    world.step(task_id, 'gate.approval', { step_name: 'manager', output: { outcome: 'approved' } })
    world.step(task_id, 'step.resource', { verb: 'DELETE', step_name: 'delete_record', input: { user } })
    world.step(task_id, 'END_NODE', { output: { result: 'done' } })
  }
  task('task-1', 'mia_li_3668')
  world.leaf('incident', 'inc_1', { incident: { severity: 'high', state: 'open' } })
  world.publish()
  task('task-2', 'raj_sanchez_7340')
  world.leaf('incident', 'inc_1', { incident: { severity: 'high', state: 'ignored', note: 'agreed with legal' } })
  world.publish()
  world.kept = world.latest.note
  task('task-3', 'sofia_kim_7287')
  world.publish()
  return world
}

// A log in memory as a platform writes it, whose entries a forger with the key can replace: bundles of it are valid.
import { createHash } from 'node:crypto'
import { committedResults, compile, type PolicyInput, type PolicySet, stepOfRecord, Task } from '@svc/engine'
import type { RejudgedEntry } from '@svc/engine/parts'
import type { JsonMap, LogRecord } from '@svc/schemas'
import { packBundle } from '../../../proof/attacks/pack.js'
import { bundleFiles } from '../../../proof/bundle/bundle.js'
import { canonical } from '../../../proof/json/canonical.js'
import { hexOf } from '../../../proof/json/hex.js'
import { formatCheckpoint, formatNote, formatVerifier, signerOf, signText } from '../../../proof/notes/note.js'
import { commitment, leafHash, noCheckpoint, policySetDigest, recordText } from '../../../proof/record/record.js'
import {
  Frontier,
  type Hash,
  inclusionRanges,
  type Range,
  type Subtree,
  subtreesOf,
} from '../../../proof/tree/merkle.js'
import { policyDefaults } from '../engine/policy.js'

const org_id = 'org_sketch'
const origin = `log.example/org/${org_id}/1`
const signer = signerOf(origin, 'note', Buffer.alloc(32, 1))
const received_at = '2026-03-02T09:00:00.000Z'

/** The trust policy of an auditor of these logs. */
export const trust = `log ${formatVerifier(signer.verifier)}\n`

/** Policies as a platform stores them. */
export function policiesOf(
  all: readonly (Partial<PolicyInput> & Pick<PolicyInput, 'rule_type' | 'params'>)[],
): PolicyInput[] {
  return all.map((policy, index) => ({
    ...policyDefaults,
    id: index + 1,
    name: `policy ${index + 1}`,
    severity: 'low',
    ...policy,
  }))
}

type Values = Readonly<Record<string, unknown>>

export interface SketchedStep extends Values {
  readonly step_type: string
  readonly step?: number
  readonly timestamp?: string
}

/** An entry with its values; both the commitments and the links of the record follow when it is sealed. */
interface Sketched {
  readonly record: Omit<LogRecord, 'prev_hash' | 'evaluation' | 'data'> | null
  readonly leaf: { readonly type: 'event' | 'report'; readonly subject_id: string } | null
  readonly values: Values
}

export class SketchedLog {
  readonly entries: Sketched[] = []
  readonly sets = new Map<string, string>()
  readonly #tasks = new Map<string, Task>()
  readonly #steps = new Map<string, ReturnType<typeof stepOfRecord>[]>()
  readonly #facts = new Map<string, JsonMap>()
  #set: { readonly set: PolicySet; readonly inputs: ReadonlyMap<number, PolicyInput>; readonly digest: string } | null =
    null

  /** Puts policies in force for every agent. */
  govern(policies: readonly PolicyInput[]): void {
    const body = canonical(policies)
    const digest = policySetDigest(body)
    this.sets.set(digest, body)
    this.#set = { set: compile(policies), inputs: new Map(policies.map((one) => [one.id, one])), digest }
  }

  /** Registers an agent, or changes it. */
  register(agent_id: string, facts: JsonMap = {}, kind = 'agent.registered'): void {
    const whole = { agent_id, risk_classification: 'limited', environment: 'production', ...facts }
    this.#facts.set(agent_id, whole)
    const event = { kind, subject_kind: 'agent', subject_id: agent_id, data: { facts: whole } }
    this.entries.push({ record: null, leaf: { type: 'event', subject_id: 'evt_1' }, values: { event } })
  }

  /** Records an issued report. */
  issue(report: JsonMap): void {
    this.entries.push({ record: null, leaf: { type: 'report', subject_id: 'rep_1' }, values: { report } })
  }

  /** Logs a step, evaluated as a platform does. */
  step(
    agent_id: string,
    task_id: string,
    { step_type, step, timestamp = received_at, ...payload }: SketchedStep,
  ): void {
    if (this.#set === null) throw new Error('no policies are in force')
    const { set, inputs, digest: policy_set } = this.#set
    const past = this.#steps.get(task_id) ?? []
    const seq = past.length + 1
    const flags = { is_external_call: false, has_write_permission: false }
    const columns = { agent_id, task_id, step: step ?? seq, step_type, timestamp, ...flags }
    const logged = stepOfRecord(columns, payload)
    const known = this.#tasks.get(task_id)
    const task = known?.set === set ? known : Task.of(set, past)
    this.#tasks.set(task_id, task)
    const evaluated = task.evaluateRecorded(logged, this.#facts.get(agent_id) ?? {})
    task.add(logged)
    this.#steps.set(task_id, [...past, logged])
    const own = { v: 'svc.log/1', type: 'step', org_id, ...columns, seq, received_at, api_key_id: 'key_1' } as const
    const evaluation = committedResults(evaluated, inputs)
    this.entries.push({
      record: { ...own, policy_set, after: noCheckpoint },
      leaf: null,
      values: { ...payload, evaluation },
    })
  }
}

/** Commits to the values, links the records of each task, and hashes them. */
export function sealed(entries: readonly Sketched[]) {
  const heads = new Map<string, string>()
  return entries.map(({ record, leaf, values }, log_index) => {
    const salt = createHash('sha256').update(`salt ${log_index}`).digest()
    const salts = Object.fromEntries(Object.keys(values).map((field) => [field, hexOf(salt)]))
    const committed = Object.fromEntries(
      Object.entries(values).map(([field, value]) => [field, commitment(field, value, salt)]),
    )
    const payload = `{"salts":${canonical(salts)},"values":${canonical(values)}}`
    if (record === null) {
      const shared = { v: 'svc.log/1', org_id, received_at, after: noCheckpoint, data: committed } as const
      return { log_index, text: recordText({ ...shared, type: 'event', subject_id: '', ...leaf }), payload, values }
    }
    const { evaluation = '', ...data } = committed
    const prev_hash = heads.get(record.task_id) ?? ''
    const text = recordText({ ...record, prev_hash, evaluation, data })
    heads.set(record.task_id, leafHash(text))
    return { log_index, text, payload, values }
  })
}

/** The entries as the evaluation again reads them. */
export function entriesOf(log: SketchedLog): RejudgedEntry[] {
  return sealed(log.entries).map(({ log_index, text, values }) => {
    return { log_index, record: JSON.parse(text) as RejudgedEntry['record'], values }
  })
}

/** The line of authority.jsonl for an entry of the log, with its proof. */
export function authorityLine(entries: readonly Sketched[], log_index: number): Record<string, unknown> {
  const all = sealed(entries)
  const tree = ({ from, to }: Range) => {
    const own = new Frontier(0, [])
    for (const { text } of all.slice(from, to)) own.add(Buffer.from(leafHash(text), 'hex'))
    return hexOf(own.root())
  }
  const { text = '', payload = '' } = all[log_index] ?? {}
  const [, salts = '', body = ''] = /^\{"salts":(\{.*?\}),"values":(.*)\}$/.exec(payload) ?? []
  return { log_index, record: text, salts, body, proof: inclusionRanges(log_index, all.length).map(tree) }
}

/** A bundle of the log from an entry on, signed with its key; `authority` and `readings`: lines of authority.jsonl and report.jsonl. */
export function bundleOf(
  { entries: sketched, sets }: Pick<SketchedLog, 'entries' | 'sets'>,
  authority: readonly Readonly<Record<string, unknown>>[] = [],
  readings: readonly unknown[] = [],
  first = 0,
): Buffer {
  const all = sealed(sketched)
  const begin = Math.max(0, first - 1)
  const leaves = all.map(({ text }) => Buffer.from(leafHash(text), 'hex'))
  const tree = new Frontier(0, [])
  for (const leaf of leaves) tree.add(leaf)
  const [size, root] = [all.length, tree.root()]
  const text = formatCheckpoint({ origin, size, root })
  const lines = (texts: readonly string[]) => Buffer.from(texts.map((one) => `${one}\n`).join(''))
  const contents = new Map<string, Uint8Array>([
    [bundleFiles.note, Buffer.from(formatNote({ text, signatures: [signText(text, signer)] }))],
    [bundleFiles.records, lines(all.slice(begin).map((entry) => entry.text))],
    [bundleFiles.payloads, lines(all.slice(first).map(({ payload }) => payload))],
    [bundleFiles.policy_sets, lines([...sets.values()])],
    [bundleFiles.authority, lines(authority.map((one) => canonical(one)))],
    [bundleFiles.report, lines(readings.map((one) => canonical(one)))],
    [bundleFiles.leaves, Buffer.concat(leaves.slice(begin))],
    [bundleFiles.nodes, Buffer.concat(subtreesOf({ from: 0, to: begin }).map((one) => rootUnder(leaves, one)))],
  ])
  const from = (first: number) => ({ first, end: size })
  const period = { from: null, to: null }
  const head = { origin, org_id, made_at: received_at, period, entries: from(first), records: from(begin) }
  return packBundle({ ...head, checkpoint: { size, root: hexOf(root) } }, contents, signer)
}

function rootUnder(leaves: readonly Hash[], { level, index }: Subtree): Hash {
  const own = new Frontier(0, [])
  for (const leaf of leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)) own.add(leaf)
  return own.root()
}

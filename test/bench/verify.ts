// Verification of a task with 10,000 steps, compared with hashing the same bytes once.
import { createHash, randomBytes } from 'node:crypto'
import {
  advance,
  canonical,
  commitment,
  leafHash,
  logIdOf,
  noCheckpoint,
  recordText,
  type StoredEntry,
  type StoredHead,
  type StoredLeaf,
  type StoredPayload,
  taskVerifier,
} from '@svc/proof'
import type { Row } from './main.js'
import { step } from './policies.js'

const steps = 10_000
const rounds = 5
const org_id = 'org_00'
const task_id = 'bench'

interface Stored {
  readonly entry: StoredEntry
  readonly payload: StoredPayload
  readonly leaf: StoredLeaf
}

export function benchVerify(): Row[] {
  const { rows, head } = task()
  const bytes = rows.map(({ entry, payload }) => Buffer.from(`${entry.record}${payload.salts}${payload.body}`))
  const known = { published: new Map(), is_erased: () => false }
  const own: number[] = []
  const reference: number[] = []
  for (let round = 0; round < rounds; round++) {
    own.push(
      timed(() => {
        const verifier = taskVerifier(org_id, task_id)
        for (const { entry, payload, leaf } of rows) verifier.add(entry, payload, leaf, known)
        const { integrity, sequence } = verifier.finish(head, { anchoring: 'none', not_signed: null })
        if (!integrity.ok || !sequence.ok) throw new Error(JSON.stringify([integrity, sequence]))
      }),
    )
    reference.push(
      timed(() => {
        for (const one of bytes) createHash('sha256').update(one).digest()
      }),
    )
  }
  const [took, hashing] = [Math.min(...own), Math.min(...reference)]
  return [
    {
      what: 'verify a task of 10,000 steps',
      measured: `${took.toFixed(0)} ms`,
      reference: `SHA-256 of the same bytes ${hashing.toFixed(0)} ms`,
      ratio: (took / hashing).toFixed(1),
      bar: '≤ 4',
    },
  ]
}

function task(): { rows: Stored[]; head: StoredHead | null } {
  const rows: Stored[] = []
  let head: StoredHead | null = null
  for (let index = 0; index < steps; index++) {
    const row = stored(index, head)
    head = advance(head, row.entry)
    rows.push(row)
  }
  return { rows, head }
}

function stored(index: number, head: StoredHead | null): Stored {
  const { input, properties, step_name, verb } = step
  const values = { evaluation: [], input, properties, step_name, verb }
  const salts = Object.fromEntries(Object.keys(values).map((field) => [field, randomBytes(32)]))
  const sealed = Object.entries(values).map(([field, value]) => [
    field,
    commitment(field, value, salts[field] as Buffer),
  ])
  const { evaluation = '', ...data } = Object.fromEntries(sealed) as Record<string, string>
  const received_at = new Date(Date.UTC(2026, 0, 5) + index * 1000).toISOString()
  const projected = {
    org_id,
    agent_id: 'ag_0',
    task_id,
    seq: index + 1,
    step: index + 1,
    timestamp: received_at,
    received_at,
    step_type: index === 0 ? 'task.start' : step.step_type,
    is_external_call: false,
    has_write_permission: true,
    prev_hash: head?.hash ?? '',
    api_key_id: 'key_0',
    policy_set: '0'.repeat(64),
  }
  const record = recordText({
    v: 'svc.log/1',
    type: 'step',
    ...projected,
    evaluation,
    data,
    after: { ...noCheckpoint },
  })
  const hash = leafHash(record)
  const log_id = logIdOf(Date.parse(received_at), hash)
  const entry = {
    ...projected,
    log_index: index,
    log_id,
    occurred_at: received_at,
    client_prev_hash: null,
    hash,
    record,
  }
  const hex = Object.fromEntries(Object.entries(salts).map(([field, salt]) => [field, salt.toString('hex')]))
  const payload = { log_index: index, received_at, salts: canonical(hex), body: canonical(values) }
  return { entry, payload, leaf: { log_index: index, type: 'step', leaf_hash: hash, received_at } }
}

function timed(run: () => void): number {
  const before = performance.now()
  run()
  return performance.now() - before
}

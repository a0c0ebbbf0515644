// Bundles that the log's own key signs and that misstate what was pruned: both verifiers find it.
import type { BundleVerdict } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { packBundle } from '../../proof/attacks/pack.js'
import { recordAt } from '../../proof/attacks/store.js'
import { org_id, origin, World } from '../../proof/attacks/world.js'
import { type BundledCheckpoint, bundleFiles, payloadLine } from '../../proof/bundle/bundle.js'
import { canonical } from '../../proof/json/canonical.js'
import { Frontier, type Range, subtreesOf } from '../../proof/tree/merkle.js'
import { openAuditorFolder, verifyWithBoth } from '../support/log/bundle.js'

const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

/** Six steps, one a minute from 09:00, and half a year later a prune that declares these log indexes. */
function prunedWorld(declared: readonly (readonly [number, number])[], before: unknown = at(4), days = 184): World {
  const world = new World()
  for (let step = 0; step < 6; step++)
    world.step(step < 4 ? 'task' : 'other', 'step.tool', { verb: 'GET', step_name: `step ${step}` })
  world.wait(days)
  const prune = { id: 'prn_1', before, entries: declared, pruned_by: 'system:retention', pruned_at: world.now() }
  world.leaf('prune', 'prn_1', { prune: { ...prune, legal_basis: 'retention of 365 days' } })
  world.step('task', 'step.tool', { verb: 'GET', step_name: 'step 6' })
  world.publish()
  return world
}

const at = (minute: number) => `2026-03-02T09:0${minute}:00.000Z`

interface Shown {
  /** Log indexes that the manifest places in the period from 09:04 on. */
  readonly entries: Range
  /** Log index of the first record. */
  readonly first: number
  /** Log indexes without a record. */
  readonly missing: readonly number[]
}

function bundleOf(world: World, { entries, first, missing }: Shown): Buffer {
  const { size, root, note } = world.latest
  const hashes = world.store.leaves.map(({ leaf_hash }) => Buffer.from(leaf_hash, 'hex'))
  const rootOf = ({ from, to }: Range) => {
    const tree = new Frontier(0, [])
    for (const hash of hashes.slice(from, to)) tree.add(hash)
    return tree.root()
  }
  const before = subtreesOf({ from: 0, to: first }).map(({ level, index }) =>
    rootOf({ from: index * 2 ** level, to: (index + 1) * 2 ** level }),
  )
  const indexes = Array.from({ length: size - first }, (_, at) => first + at)
  const lines = (texts: readonly string[]) => Buffer.from(texts.map((text) => `${text}\n`).join(''))
  const payloadAt = (log_index: number) => {
    const { salts = null, body = null } = world.store.payloads.get(log_index) ?? {}
    return missing.includes(log_index) ? payloadLine(null, null) : payloadLine(salts, body)
  }
  const listed: BundledCheckpoint = { size, root, note }
  const contents = new Map<string, Uint8Array>([
    [bundleFiles.note, Buffer.from(note)],
    [bundleFiles.checkpoints, lines([canonical({ ...listed })])],
    [bundleFiles.records, lines(indexes.map((one) => (missing.includes(one) ? 'null' : recordAt(world.store, one))))],
    [bundleFiles.payloads, lines(indexes.filter((one) => one >= entries.from).map(payloadAt))],
    [bundleFiles.policy_sets, lines(world.policy_sets)],
    [bundleFiles.leaves, Buffer.concat(hashes.slice(first))],
    [bundleFiles.nodes, Buffer.concat(before)],
  ])
  const head = {
    origin,
    org_id,
    made_at: world.now(),
    period: { from: at(4), to: null },
    checkpoint: { size, root },
    entries: { first: entries.from, end: entries.to },
    records: { first, end: size },
  }
  return packBundle(head, contents, world.signer)
}

const verdictOn = (world: World, shown: Shown): Promise<BundleVerdict> =>
  verifyWithBoth(auditor.put('bundle.zip', bundleOf(world, shown)), world.trust(false), auditor)

describe('a bundle of a period whose beginning was pruned', () => {
  it('is complete when the previous entry is missing and a prune covers it', async () => {
    const verdict = await verdictOn(prunedWorld([[0, 3]]), { entries: { from: 4, to: 8 }, first: 3, missing: [3] })
    expect(verdict).toMatchObject({ valid: true, complete: { start: 'pruned_before', end: 'as_signed' } })
  })

  it.each<[string, readonly (readonly [number, number])[], Shown, readonly string[]]>([
    ['a prune of no entry', [], { entries: { from: 5, to: 8 }, first: 5, missing: [] }, ['incomplete']],
    ['a prune of other entries', [[0, 2]], { entries: { from: 5, to: 8 }, first: 4, missing: [4] }, ['incomplete']],
    ['no previous entry', [[0, 3]], { entries: { from: 5, to: 8 }, first: 5, missing: [] }, ['incomplete']],
    [
      'a previous entry of the period',
      [[0, 3]],
      { entries: { from: 5, to: 8 }, first: 4, missing: [] },
      ['incomplete'],
    ],
    [
      'a prune of later entries',
      [[0, 9]],
      { entries: { from: 4, to: 8 }, first: 3, missing: [3, 7] },
      ['incomplete', 'record_lost'],
    ],
    ['a prune of itself', [[0, 6]], { entries: { from: 4, to: 8 }, first: 3, missing: [3] }, ['incomplete']],
  ])('is not complete with %s', async (_, declared, shown, found) => {
    const { findings } = await verdictOn(prunedWorld(declared), shown)
    expect([...new Set(findings.map(({ code }) => code))].sort()).toEqual([...found].sort())
  })

  const complete = { entries: { from: 4, to: 8 }, first: 3, missing: [3] }
  it.each<[string, unknown, number]>([
    ['a prune before the end of the retention', at(4), 183],
    ['a `before` that is not a time', 'long ago', 184],
    ['a `before` of null', null, 184],
    ['a `before` on 30 February', '2025-02-30T00:00:00.000Z', 184],
  ])('is not complete with %s', async (_, before, days) => {
    const { findings } = await verdictOn(prunedWorld([[0, 3]], before, days), complete)
    expect(findings.map(({ code }) => code)).toEqual(['incomplete'])
  })

  it('does not count its neighbours', async () => {
    const { payloads, tasks, entries } = await verdictOn(prunedWorld([[0, 3]]), complete)
    expect([payloads, tasks.count, entries]).toMatchObject([{ pruned: 0 }, 2, { step: 3, prune: 1 }])
  })
})

describe('a prune', () => {
  const from = (entries: Range, missing: readonly number[]) => ({ entries, first: 3, missing })

  it('covers entries after an older entry', async () => {
    // The first entry of the bundle was received at 09:03.
    const world = prunedWorld([[4, 5]], '2026-03-02T09:06:00.000Z')
    expect((await verdictOn(world, from({ from: 4, to: 8 }, [4, 5]))).payloads).toMatchObject({ pruned: 2 })
    expect((await verdictOn(world, from({ from: 4, to: 8 }, [4, 5]))).findings).toEqual([])
  })

  it('covers no entry after one that is not older than its `before`', async () => {
    const world = prunedWorld([[4, 5]], at(3))
    const { findings } = await verdictOn(world, from({ from: 4, to: 8 }, [4, 5]))
    expect(findings.map(({ code }) => code)).toEqual(['record_lost'])
  })
})

// Bundles of a restarted log: both verifiers compare the declaration in its leaf with the signed checkpoints.
import { afterAll, describe, expect, it } from 'vitest'
import { World } from '../../proof/attacks/world.js'
import { openAuditorFolder, verifyWithBoth } from '../support/log/bundle.js'

const auditor = openAuditorFolder()
afterAll(() => auditor.clear())
const other = '1'.repeat(64)
const name = (epoch: number) => `log.example/org/org_0a1b2c/${epoch}`

/** Six steps, four of them signed; `left` steps remain, and a restart declares `declared`. */
function restarted(left: number, declared: Readonly<Record<string, unknown>>) {
  const world = new World()
  for (let step = 0; step < 6; step++) {
    world.step('task', 'step.tool', { verb: 'GET', step_name: `step ${step}` })
    if (step === 3) world.publish()
  }
  const kept = world.latest.note
  world.rewrite(world.items.slice(0, left))
  if (left < 4) world.checkpoints = []
  world.restart(declared)
  return { world, kept }
}

describe('a restart of a log', () => {
  it.each<[string, number, Readonly<Record<string, unknown>>, object, readonly string[]]>([
    ['of all signed entries', 6, {}, { gone: 0, left: 'unchanged' }, []],
    ['of fewer entries than were signed', 3, {}, { gone: 1, left: 'not_shown' }, ['entries_gone']],
    [
      'of changed entries',
      6,
      { old_root: other },
      { gone: 0, left: 'changed' },
      ['restart_mismatch', 'entries_changed'],
    ],
    [
      'of changed entries that the operator accepted',
      6,
      { old_root: other, accepted_changed_entries: true },
      { gone: 0, left: 'changed' },
      ['restart_mismatch'],
    ],
    ['that declares fewer signed entries', 6, { old_size: 2 }, { gone: 0 }, ['restart_mismatch', 'entries_changed']],
    ['that declares no signed entry', 6, { old_size: 0, old_root: null }, { gone: 0 }, ['restart_mismatch']],
    ['into an epoch after the next', 6, { origin: name(3) }, { gone: 0 }, ['restart_mismatch']],
    ['out of its own epoch', 6, { old_origin: name(2) }, { gone: 0 }, ['restart_mismatch', 'since_other_log']],
  ])('%s has its findings', async (_, left, declared, view, codes) => {
    const { world, kept } = restarted(left, declared)
    const verdict = await verifyWithBoth(auditor.put('bundle.zip', world.bundle()), world.trust(false), auditor, kept)
    expect(verdict.restarts).toMatchObject([{ log_index: left, by: 'operator:local', ...view }])
    expect([...new Set(verdict.findings.map(({ code }) => code))].sort()).toEqual([...codes].sort())
  })

  it.each([
    { old_size: -1 },
    { old_size: '4' },
    { old_root: null },
    { old_root: 'x' },
    { reason: 1 },
    { kept_size: 1.5 },
    { origin: null },
  ])('is not read with %j', async (declared) => {
    const { world } = restarted(6, declared)
    expect(
      (await verifyWithBoth(auditor.put('bundle.zip', world.bundle()), world.trust(false), auditor)).restarts,
    ).toEqual([])
  })
})

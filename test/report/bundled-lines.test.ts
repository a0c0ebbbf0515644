// The lines of report.jsonl that no platform writes: a bundle of another version, or of a forger with the key of the log.
import { parseTrustPolicy } from '@svc/proof'
import { afterAll, describe, expect, it } from 'vitest'
import { makeBundledReport } from '../../report/bundle/make.js'
import { openAuditorFolder } from '../support/log/bundle.js'
import { bundleOf, policiesOf, SketchedLog, trust } from '../support/log/sketched-log.js'

const auditor = openAuditorFolder()
afterAll(() => auditor.clear())
const [from, to] = ['2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z']
const [root, sha256] = ['ab', 'cd'].map((digits) => digits.repeat(32))

/** An agent, one step, and the leaf of a report. */
const log = new SketchedLog()
log.govern(policiesOf([{ rule_type: 'field_not_empty', params: { field: 'input' } }]))
log.register('ag_1')
log.step('ag_1', 'task', { step_type: 'step.model' })
log.issue({ id: 'rep_1', format: 'json', from, to, cut_off: 2, root, sha256 })

const checkpoint = { origin: 'o', size: 2, root, note: '', published_at: to, keys: [] }
const claims = { checkpoint, left: [], right: [], own_tasks: null, log_began: from }
const work = { kind: 'work', leaves: [2], claims }
const entries = { kind: 'entries', leaves: [], claims: { from: 0, to: 2, violations: null, memory: null, removed: [] } }
const tables = {
  organization: 'Acme',
  retention_days: 365,
  members: [],
  people: [],
  checkpoints: { rows: [], more: 0 },
}
const end = [
  ...['wanted', 'wanted_for_lists', 'wanted_people'].map((kind) => ({ kind, leaves: [], claims: {} })),
  { kind: 'tables', leaves: [], claims: { tables } },
]

async function made(lines: readonly unknown[]) {
  const path = auditor.put('bundle.zip', bundleOf(log, [], lines))
  return makeBundledReport(path, parseTrustPolicy(trust).value, null)
}

describe('the lines of what a report reads', () => {
  it('are those of a report that states what its bundle does not show', async () => {
    const { plan, bytes, issued } = await made([work, entries, ...end])
    expect([plan.id, issued]).toEqual(['rep_1', { log_index: 2, sha256 }])
    const text = Buffer.from(bytes).toString()
    for (const problem of ['checkpoint_unsigned', 'root_mismatch', 'violations_altered'])
      expect(text).toContain(problem)
  })

  it.each<[string, readonly unknown[], string]>([
    ['without one', [], 'NO_REPORT'],
    ['that begin with another line', [entries, work], 'NO_REPORT'],
    ['whose report is another entry', [{ ...work, leaves: [1] }], 'INCOMPLETE'],
    ['of another cut-off', [{ ...work, claims: { ...claims, checkpoint: { ...checkpoint, size: 1 } } }], 'INCOMPLETE'],
    [
      'of another root',
      [{ ...work, claims: { ...claims, checkpoint: { ...checkpoint, root: sha256 } } }],
      'INCOMPLETE',
    ],
    ['that end early', [work, entries], 'UNREADABLE'],
    ['of an unknown kind', [work, { ...entries, kind: 'later' }], 'UNREADABLE'],
    ['that ask for the report', [work, { ...entries, kind: 'render' }], 'UNREADABLE'],
    ['with other claims', [work, { ...entries, kind: 'agents' }], 'UNREADABLE'],
    ['of more entries than the bundle has', [work, { ...entries, claims: { ...entries.claims, to: 9 } }], 'INCOMPLETE'],
    ['of a missing policy set', [work, { kind: 'policy_sets', leaves: [], claims: { digests: [root] } }], 'INCOMPLETE'],
    ['of a missing entry', [work, { kind: 'facts', leaves: [7], claims: {} }], 'INCOMPLETE'],
  ])('are rejected: %s', async (_, lines, code) => {
    await expect(made(lines)).rejects.toMatchObject({ code })
  })
})

// Entries outside the period that a bundle holds with proofs: facts of agents and issued reports, checked by both verifiers.
import { afterAll, describe, expect, it } from 'vitest'
import { parseTrustPolicy } from '../../proof/notes/trust.js'
import { verifyBundle } from '../../proof/verify/verify.js'
import { openAuditorFolder, verifyWithBoth } from '../support/log/bundle.js'
import { authorityLine, bundleOf, policiesOf, SketchedLog, trust } from '../support/log/sketched-log.js'

const auditor = openAuditorFolder()
afterAll(() => auditor.clear())
const hash = 'ab'.repeat(32)
const report = {
  id: 'rep_1',
  format: 'pdf',
  from: '2026-03-02T00:00:00.000Z',
  to: '2026-03-03T00:00:00.000Z',
  cut_off: 2,
  root: hash,
  sha256: hash,
}

/** An agent, one step, and a leaf of a report. */
function reported(issued: object = report): SketchedLog {
  const log = new SketchedLog()
  log.govern(policiesOf([{ rule_type: 'field_not_empty', params: { field: 'input' } }]))
  log.register('ag_1')
  log.step('ag_1', 'task', { step_type: 'step.model' })
  log.issue({ ...issued })
  return log
}

type Line = ReturnType<typeof authorityLine>
const codesOf = async (log: SketchedLog, lines: readonly Line[], readings: readonly unknown[] = []) => {
  const path = auditor.put('bundle.zip', bundleOf(log, lines, readings))
  return (await verifyWithBoth(path, trust, auditor)).findings.map(({ code }) => code)
}

describe('an entry outside the period', () => {
  const log = reported()
  const [agent, step, issued] = [0, 1, 2].map((index) => authorityLine(log.entries, index)) as [Line, Line, Line]

  it('is accepted when it holds the facts of an agent, or records a report', async () => {
    expect(await codesOf(log, [agent, issued])).toEqual([])
  })

  it.each<[string, Line, string]>([
    ['of another place', { ...agent, log_index: 1 }, 'not_in_log'],
    ['with other facts', { ...agent, body: String(agent.body).replace('limited', 'minimal') }, 'record_invalid'],
    ['with other salts', { ...agent, salts: String(agent.salts).replace(/[0-9a-f]{4}/, '0000') }, 'record_invalid'],
    ['with another record', { ...agent, record: String(agent.record).replace('evt_1', 'evt_2') }, 'not_in_log'],
    ['without its payload', { ...issued, salts: 'null', body: 'null' }, 'record_invalid'],
    ['that is a step', step, 'record_invalid'],
  ])('is reported: %s', async (_, line, code) => {
    expect(await codesOf(log, [line])).toEqual([code])
  })

  it.each([
    { id: 1 },
    { from: '2026-03-02' },
    { to: '2026-02-30T00:00:00.000Z' },
    { agent_ids: [1] },
    { agent_ids: 'ag_1' },
    { cut_off: -1 },
    { root: 'x' },
    { sha256: null },
  ])('is reported when it records no report: %o', async (change) => {
    const other = reported({ ...report, ...change })
    expect(await codesOf(other, [authorityLine(other.entries, 2)])).toEqual(['record_invalid'])
  })
})

describe('what a report reads', () => {
  const log = reported()
  const step = authorityLine(log.entries, 1)
  const reading = { kind: 'facts', leaves: [2], claims: {} }

  it('is accepted when the bundle holds it: entries of the period, and statements of the platform', async () => {
    expect(await codesOf(log, [], [reading, { ...reading, leaves: [], claims: { agents: [] } }])).toEqual([])
  })

  it.each<[string, unknown, string]>([
    ['an entry that the bundle lacks', { ...reading, leaves: [3] }, 'report_incomplete'],
    ['a negative log index', { ...reading, leaves: [-1] }, 'not_a_bundle'],
    ['another member', { ...reading, more: 1 }, 'not_a_bundle'],
    ['statements that are a list', { ...reading, claims: [] }, 'not_a_bundle'],
    ['a line that is not an object', 1, 'not_a_bundle'],
  ])('is reported: %s', async (_, line, code) => {
    expect(await codesOf(log, [], [line])).toEqual([code])
  })

  it('outside the period can be any entry with a proof, also an erased one', async () => {
    const parts = { log, step, readings: [{ ...reading, leaves: [1] }] }
    expect(await ofTheLast(parts)).toEqual([])
    expect(await ofTheLast({ ...parts, step: { ...step, salts: null, body: null } })).toEqual([])
    expect(await ofTheLast({ ...parts, step: { ...step, body: null } })).toEqual(['not_a_bundle'])
    expect(await ofTheLast({ ...parts, readings: [] })).toEqual(['record_invalid'])
    expect(await ofTheLast({ ...parts, step: null })).toEqual(['report_incomplete'])
  })
})

interface LastEntry {
  readonly log: SketchedLog
  /** The line of the step, which is outside the period. */
  readonly step: Line | null
  readonly readings: readonly unknown[]
}

/** The findings on a bundle of the last entry alone, but for its period, which begins with the log. */
async function ofTheLast({ log, step, readings }: LastEntry): Promise<string[]> {
  const path = auditor.put(
    'bundle.zip',
    bundleOf({ ...log, sets: new Map() }, step === null ? [] : [step], readings, 2),
  )
  const { findings } = await verifyWithBoth(path, trust, auditor)
  return findings.map(({ code }) => code).filter((code) => code !== 'incomplete')
}

describe('a report that reads another log', () => {
  it('is reported', async () => {
    const path = auditor.put('bundle.zip', bundleOf(reported()))
    const { value: policy } = parseTrustPolicy(trust)
    const verdict = await verifyBundle({ path, policy, since: null, report: hash })
    expect(verdict).toMatchObject({ valid: false, findings: [{ code: 'report_mismatch', where: 'entry 2' }] })
  })
})

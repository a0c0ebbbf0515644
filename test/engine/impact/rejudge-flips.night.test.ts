// One false verdict among ten thousand, signed by the key of the log: only the evaluation again can find it.
import { performance } from 'node:perf_hooks'
import { parseManifest } from '@svc/engine'
import type { RejudgedEntry } from '@svc/engine/parts'
import { baseline } from '@svc/library'
import type { CommittedResult, LogRecord } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { materialise } from '../../../engine/manifest/agent/materialise.js'
import { runSvc } from '../../support/cli/svc.js'
import { openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { rejudgedBundle, rejudgedEntries } from '../../support/log/rejudge.js'
import { bundleOf, entriesOf, policiesOf, SketchedLog, trust } from '../../support/log/sketched-log.js'

/** Each takes 0.2 s; SVC_REJUDGE_TRIES=200 is the long run. */
const tries = Number(process.env.SVC_REJUDGE_TRIES ?? 20)
/** Of so many tries one goes through a signed bundle; the others through its entries alone, which takes a tenth of the time. */
const bundledEach = Number(process.env.SVC_REJUDGE_EACH ?? 20)
const tasks = 500
const steps = 10_000
const seed = Number(process.env.SVC_REJUDGE_SEED ?? Date.now() % 2 ** 31)

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const file = baseline()
const { value } = parseManifest(file.text, file.path)
if (value === null) throw new Error('the baseline is invalid')
const assignment = {
  source: 'baseline',
  path: file.path,
  sha: file.blob_sha,
  agent: null,
  assigned_at: null,
  assigned_by: null,
}

/** Each of these is met and missed by one: changing a parameter by one changes a verdict. */
const exact = [
  { rule_type: 'execution_max_steps', params: { step_type: { step_names: ['refund'] }, max_steps: 3 } },
  { rule_type: 'max_consecutive_same_type', params: { step_type: 'step.model', max_consecutive: 2 } },
  { rule_type: 'field_in_range', params: { field: 'input.amount', min: 1, max: 50 } },
] as const

const policies = policiesOf([...materialise(value, assignment).policies, ...exact])
const firstExact = policies.length - exact.length + 1
const timeOf = (minute: number) => new Date(Date.UTC(2026, 2, 2, 9) + minute * 60_000).toISOString()

/** The step of a task at a position. */
function stepAt(task: number, at: number) {
  const timestamp = timeOf(at)
  if (at === 0) return { step_type: 'task.start', timestamp, properties: { declared_tools: ['refund', 'search'] } }
  if (at === 19) return { step_type: 'task.end', timestamp, output: { status: 'done' } }
  if (at % 5 === 0 || (at === 18 && task % 2 === 0))
    return {
      step_type: 'step.resource',
      verb: 'POST',
      step_name: 'refund',
      timestamp,
      input: { amount: (task + at) % 53 },
    }
  if (at % 5 === 1)
    return { step_type: 'step.resource', verb: 'GET', step_name: 'search', timestamp, output: { text: `row ${task}` } }
  return { step_type: 'step.model', step_name: 'model', timestamp, output: { text: `thought ${at} of ${task}` } }
}

function longLog(): SketchedLog {
  const log = new SketchedLog()
  log.govern(policies)
  for (let agent = 0; agent < 5; agent++) log.register(`ag_${agent}`, { declared_tools: ['refund', 'search'] })
  // The tasks are interleaved in tens.
  for (let group = 0; group < tasks; group += 10)
    for (let at = 0; at < steps / tasks; at++)
      for (let task = group; task < group + 10; task++) log.step(`ag_${task % 5}`, `task ${task}`, stepAt(task, at))
  return log
}

describe('ten thousand steps', () => {
  const auditor = openAuditorFolder()
  afterAll(() => auditor.clear())
  const log = longLog()
  const honest = entriesOf(log)
  const random = randomFrom(seed)
  const pick = (count: number) => Math.floor(random() * count)
  const rejudgedWith = ({ entries, sets }: Pick<SketchedLog, 'entries' | 'sets'>) =>
    rejudgedBundle(auditor.put('bundle.zip', bundleOf({ entries, sets })), trust)

  it('are evaluated again in seconds, by the command too', async () => {
    const started = performance.now()
    const verdict = await rejudgedWith(log)
    expect(verdict).toMatchObject({ equal: true, steps, evaluated: steps, others: [] })
    const seconds = (performance.now() - started) / 1000
    const violated = log.entries
      .flatMap(({ values }) => (values.evaluation ?? []) as CommittedResult[])
      .filter((one) => one.violated)
    expect(violated.length).toBeGreaterThan(100)
    const second = await verifyWithBoth(`${auditor.folder}/bundle.zip`, trust, auditor)
    expect(second.valid).toBe(true)
    const args = ['verify', `${auditor.folder}/bundle.zip`, '--trust', `${auditor.folder}/trust.policy`, '--rejudge']
    const began = performance.now()
    const { code, stdout } = await runSvc(args)
    expect([code, stdout]).toEqual([0, expect.stringContaining('10000 of 10000 steps evaluated again (100%)')])
    console.log(
      `packed, verified and evaluated in ${seconds.toFixed(1)} s; the command took ${((performance.now() - began) / 1000).toFixed(1)} s`,
    )
  })

  it(`show one flipped verdict in each of ${tries} tries`, async () => {
    for (let count = 0; count < tries; count++) {
      const at = 5 + pick(steps)
      const sketched = log.entries[at] as (typeof log.entries)[number]
      const results = sketched.values.evaluation as CommittedResult[]
      const chosen = pick(results.length)
      const flipped = results.map((result, index) => (index === chosen ? flip(result) : result))
      const values = { ...sketched.values, evaluation: flipped }
      const entries = log.entries.map((entry, index) => (index === at ? { ...entry, values } : entry))
      const verdict =
        count % bundledEach === 0
          ? await rejudgedWith({ entries, sets: log.sets })
          : rejudgedEntries(log, honest.with(at, { ...(honest[at] as RejudgedEntry), values }))
      const { task_id, step, agent_id } = sketched.record as LogRecord
      const expected = { log_index: at, task_id, step, agent_id, policy_id: results[chosen]?.policy_id }
      expect(verdict.mismatches, `SVC_REJUDGE_SEED=${seed}, try ${count}`).toMatchObject([expected])
      expect(verdict.mismatches[0]).toMatchObject({ recorded: flipped[chosen], computed: results[chosen] })
    }
  }, 3_600_000)

  it('show a changed parameter of a policy', async () => {
    for (const [index, { params }] of exact.entries()) {
      const names = Object.entries(params).filter(([, one]) => typeof one === 'number')
      for (const [name, one] of names) {
        const changed = policies.map((policy) =>
          policy.id === firstExact + index
            ? { ...policy, params: { ...policy.params, [name]: Number(one) + (random() < 0.5 ? 1 : -1) } }
            : policy,
        )
        const other = new SketchedLog()
        other.govern(changed)
        const [digest = ''] = other.sets.keys()
        const entries = log.entries.map((entry) =>
          entry.record === null ? entry : { ...entry, record: { ...entry.record, policy_set: digest } },
        )
        const { equal, mismatches } = await rejudgedWith({ entries, sets: other.sets })
        expect([name, equal]).toEqual([name, false])
        expect(new Set(mismatches.map(({ policy_id }) => policy_id))).toEqual(new Set([firstExact + index]))
      }
    }
  })
})

describe('tasks that run at once', () => {
  it('are followed up to fifty thousand, each with one policy set', () => {
    const log = new SketchedLog()
    log.govern(policiesOf([{ rule_type: 'field_not_empty', params: { field: 'step_type' } }]))
    log.register('ag_1')
    log.step('ag_1', 'task', { step_type: 'step.model' })
    const [agent, step] = entriesOf(log) as [RejudgedEntry, RejudgedEntry]
    const round = (seq: number) =>
      Array.from({ length: 50_001 }, (_, task): RejudgedEntry => {
        const record = { ...(step.record as LogRecord), task_id: `task ${task}`, seq, step: seq }
        return { log_index: 1 + (seq - 1) * 50_001 + task, record, values: step.values }
      })
    const verdict = rejudgedEntries(log, [agent, ...round(1), ...round(2)])
    expect(verdict).toMatchObject({ equal: true, evaluated: 100_000, others: [{ reason: 'over_limit', steps: 2 }] })
  })
})

function flip({ violated, ...result }: CommittedResult): CommittedResult {
  return { ...result, violated: !violated, code: violated ? null : 'TOO_MANY_STEPS' }
}

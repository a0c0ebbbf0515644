// Steps evaluated again: what is found, and what cannot be evaluated and why.
import type { RejudgedEntry } from '@svc/engine/parts'
import type { CommittedResult, LogRecord, RejudgeVerdict } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { rejudgedEntries as rejudged } from '../../support/log/rejudge.js'
import { entriesOf, policiesOf, SketchedLog } from '../../support/log/sketched-log.js'

const twoRefunds = policiesOf([
  { rule_type: 'execution_max_steps', params: { step_type: { step_names: ['refund'] }, max_steps: 2 } },
  { rule_type: 'field_not_empty', params: { field: 'input.reason', target_step_names: ['refund'] } },
])
const refund = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input: { reason: 'late', amount: 5 } }

/** Two agents; the task of the first one has three refunds, the last of which violates. */
function desk(): SketchedLog {
  const log = new SketchedLog()
  log.govern(twoRefunds)
  log.register('ag_1')
  log.register('ag_2')
  for (let count = 0; count < 3; count++) log.step('ag_1', 'first', refund)
  log.step('ag_2', 'second', refund)
  return log
}

const reasonsOf = ({ others }: RejudgeVerdict) => Object.fromEntries(others.map(({ reason, steps }) => [reason, steps]))
const without = (entries: readonly RejudgedEntry[], log_index: number, change: Partial<RejudgedEntry>) =>
  entries.map((entry) => (entry.log_index === log_index ? { ...entry, ...change } : entry))
const resultsOf = ({ values }: RejudgedEntry) => (values?.evaluation ?? []) as CommittedResult[]
const violationsIn = (entries: readonly RejudgedEntry[]) =>
  entries.flatMap(resultsOf).filter(({ violated }) => violated)

describe('an honest log', () => {
  it('is evaluated again with the recorded verdicts', () => {
    const log = desk()
    const entries = entriesOf(log)
    expect(violationsIn(entries)).toMatchObject([{ policy_id: 1, code: 'TOO_MANY_STEPS' }])
    expect(rejudged(log, entries)).toMatchObject({ equal: true, steps: 4, evaluated: 4, others: [], mismatches: [] })
  })

  it('has the verdicts of the policies and of the agent that were in force at each step', () => {
    const log = desk()
    log.govern(policiesOf([{ rule_type: 'execution_max_steps', params: { step_type: 'step.resource', max_steps: 4 } }]))
    log.step('ag_1', 'first', refund)
    log.step('ag_1', 'first', refund)
    const forbidden = { forbidden_step_type: 'step.resource', agent_risk_classifications: ['high'] }
    log.govern(policiesOf([{ rule_type: 'step_forbidden_for_classification', params: forbidden }]))
    log.step('ag_1', 'first', refund)
    log.register('ag_1', { risk_classification: 'high' }, 'agent.updated')
    log.step('ag_1', 'first', refund)
    log.govern(twoRefunds)
    log.step('ag_1', 'first', refund)
    const entries = entriesOf(log)
    expect(violationsIn(entries)).toHaveLength(4)
    expect(rejudged(log, entries)).toMatchObject({ equal: true, steps: 9, evaluated: 9 })
  })

  it('has the waivers of the time at which each step claims to have happened', () => {
    const log = new SketchedLog()
    const waived_until = Date.parse('2026-03-02T12:00:00Z')
    log.govern(policiesOf([{ rule_type: 'field_not_empty', params: { field: 'input.reason' }, waived_until }]))
    log.register('ag_1')
    for (const hour of ['11', '13', '09'])
      log.step('ag_1', 'waived', { step_type: 'step.resource', timestamp: `2026-03-02T${hour}:00:00Z` })
    expect(rejudged(log, entriesOf(log))).toMatchObject({ equal: true, evaluated: 3 })
  })
})

describe('a changed verdict', () => {
  const flipped = (change: (results: CommittedResult[]) => unknown) => {
    const log = desk()
    const entries = entriesOf(log)
    const results = resultsOf(entries[4] as RejudgedEntry)
    return rejudged(log, without(entries, 4, { values: { ...entries[4]?.values, evaluation: change([...results]) } }))
  }
  const [passed, missed] = [
    { policy_id: 1, version: 1, violated: false, code: null },
    { policy_id: 1, version: 1, violated: true, code: 'TOO_MANY_STEPS' },
  ]

  it('is named with its entry, task, step and policy', () => {
    const { equal, evaluated, mismatches } = flipped(([, other]) => [passed, other])
    expect([equal, evaluated]).toEqual([false, 4])
    const where = { log_index: 4, agent_id: 'ag_1', task_id: 'first', step: 3, policy_id: 1, policy: 'policy 1' }
    expect(mismatches).toEqual([{ ...where, recorded: passed, computed: missed }])
  })

  it.each<[string, (results: CommittedResult[]) => unknown, object]>([
    ['a result that is left out', ([, other]) => [other], { policy_id: 1, recorded: null, computed: missed }],
    ['another code', ([, other]) => [{ ...missed, code: 'OTHER' }, other], { policy_id: 1 }],
    ['another version', ([one, other]) => [{ ...one, version: 2 }, other], { policy_id: 1 }],
    ['an approval', ([one, other]) => [{ ...one, approved_by_step: 1 }, other], { policy_id: 1 }],
    [
      'a result of no policy',
      (all) => [...all, { ...passed, policy_id: 9 }],
      { policy_id: 9, policy: null, computed: null },
    ],
    ['another order', (all) => all.reverse(), { policy_id: null }],
    ['a policy twice', (all) => [...all, ...all], { policy_id: null }],
    ['no list', () => 'violated', { policy_id: null }],
    ['a list of other values', () => [null, 1, { policy_id: '1' }], { policy_id: null }],
    ['an unknown member', ([one, other]) => [{ ...one, note: 'x' }, other], { policy_id: null }],
  ])('is found: %s', (_, change, expected) => {
    expect(flipped(change).mismatches).toMatchObject([expected])
  })

  it('is counted beyond the first hundred', () => {
    const log = desk()
    for (let count = 0; count < 120; count++) log.step('ag_2', `task ${count}`, refund)
    const entries = entriesOf(log).map((entry) =>
      entry.record?.type === 'step' ? { ...entry, values: { ...entry.values, evaluation: [] } } : entry,
    )
    const { mismatches, more_mismatches } = rejudged(log, entries)
    expect([mismatches.length, more_mismatches]).toEqual([100, 148])
  })
})

type SkippedCase = readonly [
  name: string,
  run: (entries: RejudgedEntry[], log: SketchedLog) => RejudgeVerdict,
  reasons: Readonly<Record<string, number>>,
]
const unreadable = ['', 'null', '{}', '[1]', '[{"id":1}]', '['.repeat(5000), '[{"id":1,"id":1}]']

describe('a step that cannot be evaluated again', () => {
  const cases: readonly SkippedCase[] = [
    [
      'after an erased payload, as no later step of its task can',
      (entries, log) => rejudged(log, without(entries, 3, { values: null })),
      { payload_erased: 2 },
    ],
    [
      'whose record was pruned',
      (entries, log) => rejudged(log, without(entries, 5, { record: null, values: null })),
      { record_pruned: 1 },
    ],
    [
      'of a task that began before the period',
      (entries, log) => rejudged(log, entries.slice(3), { first: 3, earlier: entries.slice(0, 2) }),
      { task_began_earlier: 2 },
    ],
    [
      'of an agent whose facts are not known',
      (entries, log) => rejudged(log, entries.slice(2), { first: 2, earlier: entries.slice(0, 1) }),
      { agent_facts_unknown: 1 },
    ],
    [
      'of an agent that was changed under an earlier release',
      (entries, log) => {
        const event = { kind: 'agent.updated', subject_kind: 'agent', subject_id: 'ag_1', data: {} }
        return rejudged(log, without(entries, 1, { values: { event } }))
      },
      { agent_facts_unknown: 4 },
    ],
    [
      'whose policies are missing',
      (entries, log) => {
        log.sets.clear()
        return rejudged(log, entries)
      },
      { policy_set_missing: 4 },
    ],
    ...unreadable.map(
      (body): SkippedCase => [
        `whose policies are ${body.slice(0, 20)}`,
        (entries, log) => {
          for (const digest of log.sets.keys()) log.sets.set(digest, body)
          return rejudged(log, entries)
        },
        { policy_set_unreadable: 4 },
      ],
    ),
    [
      'with a policy that this engine rejects',
      (entries, log) => {
        for (const [digest, body] of log.sets) log.sets.set(digest, body.replace('execution_max_steps', 'a_newer_rule'))
        return rejudged(log, entries)
      },
      { policy_unknown: 4 },
    ],
  ]
  it.each(cases)('%s', (_, run, reasons) => {
    const log = desk()
    const verdict = run(entriesOf(log), log)
    const skipped = Object.values(reasons).reduce((sum, count) => sum + count, 0)
    // Nothing can be said of verdicts of which none was computed.
    expect([verdict.equal, reasonsOf(verdict)]).toEqual([verdict.steps === skipped ? null : true, reasons])
    expect(verdict.evaluated).toBe(verdict.steps - skipped)
  })

  it('of whose policies the engine rejects one: the results of the others are compared', () => {
    const log = desk()
    for (const [digest, body] of log.sets) log.sets.set(digest, body.replace('execution_max_steps', 'a_newer_rule'))
    const entries = entriesOf(log)
    const [first, second] = resultsOf(entries[2] as RejudgedEntry)
    const values = { ...entries[2]?.values, evaluation: [first, { ...second, violated: true, code: 'EMPTY_FIELD' }] }
    expect(rejudged(log, without(entries, 2, { values })).mismatches).toMatchObject([{ log_index: 2, policy_id: 2 }])
  })
})

describe('a task whose policies change', () => {
  it('is followed up to a hundred times', () => {
    const log = desk()
    const change = (count: number) =>
      log.govern(
        policiesOf([{ rule_type: 'execution_max_steps', params: { step_type: 'step.resource', max_steps: count } }]),
      )
    for (let count = 1; count <= 100; count++) {
      change(count)
      log.step('ag_2', 'changing', refund)
    }
    expect(rejudged(log, entriesOf(log))).toMatchObject({ equal: true, evaluated: 104 })
    change(101)
    log.step('ag_2', 'changing', refund)
    expect(reasonsOf(rejudged(log, entriesOf(log)))).toEqual({ over_limit: 101 })
  })
})

describe('a step that reads the memory of its agent', () => {
  const others = { property_filter: { 'content.trust': ['third_party', 'public'] } }
  const flow = { source: others, sink: { step_names: ['pay'] } }
  const memory = (verb: string, more: object) => ({ step_type: 'step.self', verb, step_name: 'notes', ...more })
  const log = new SketchedLog()
  log.govern(policiesOf([{ rule_type: 'value_flow_forbidden', params: flow }]))
  log.register('ag_1')
  log.step('ag_1', 'writes', memory('POST', { input: { title: 'rent', text: 'pay on the third' } }))
  log.step('ag_1', 'reads', memory('GET', { output: { text: 'pay on the third' } }))
  log.step('ag_1', 'reads', { step_type: 'step.resource', verb: 'POST', step_name: 'pay', input: { on: 'the third' } })
  log.step('ag_1', 'writes only', memory('POST', { input: { title: 'x', text: 'y' } }))
  const entries = entriesOf(log)

  it('is evaluated when the bundle begins with the log, or with the agent', () => {
    expect(rejudged(log, entries)).toMatchObject({ equal: true, evaluated: 4 })
    expect(rejudged(log, entries, { first: 0 })).toMatchObject({ equal: true, evaluated: 4 })
    const later = entries.map((entry) => ({ ...entry, log_index: entry.log_index + 10 }))
    expect(rejudged(log, later, { first: 10 })).toMatchObject({ equal: true, evaluated: 4 })
  })

  it('is not evaluated when earlier notes are not in the bundle, nor are the steps after it', () => {
    const verdict = rejudged(log, entries.slice(1), { first: 1, earlier: entries.slice(0, 1) })
    expect([reasonsOf(verdict), verdict.evaluated]).toEqual([{ reads_memory: 2 }, 2])
  })

  it('is not evaluated after a note was erased or pruned', () => {
    for (const [change, reasons] of [
      [{ values: null }, { reads_memory: 2, payload_erased: 1 }],
      [
        { record: null, values: null },
        { reads_memory: 2, record_pruned: 1 },
      ],
    ] as const)
      expect(reasonsOf(rejudged(log, without(entries, 1, change)))).toEqual(reasons)
  })
})

describe('a hostile log', () => {
  const step = (more: object) => {
    const log = desk()
    const entries = entriesOf(log)
    const { record, values } = entries[4] as RejudgedEntry
    return rejudged(log, without(entries, 4, { record: { ...(record as LogRecord), ...more }, values }))
  }

  it('with names of prototypes and times of no calendar is evaluated', () => {
    for (const more of [
      { task_id: '__proto__' },
      { agent_id: 'constructor' },
      { timestamp: '9999-99-99' },
      { step_type: '' },
    ])
      expect(step(more).steps).toBe(4)
  })

  it('with values of other types in its steps does not end the evaluation', () => {
    const log = desk()
    const entries = entriesOf(log)
    for (const value of [
      null,
      5,
      'x',
      [],
      [[]],
      true,
      { toString: 1 },
      JSON.parse('{"__proto__":{"status":"blocked"}}'),
    ]) {
      const payload = { input: value, output: value, properties: value, meta: value, verb: value, step_name: value }
      for (const step_type of ['step.self', 'step.resource', 'task.end', 'step.gate']) {
        const { record, values } = entries[3] as RejudgedEntry
        const changed = { record: { ...(record as LogRecord), step_type }, values: { ...values, ...payload } }
        const verdict = rejudged(log, without(entries, 3, changed))
        expect(verdict.steps).toBe(4)
      }
    }
  })
})

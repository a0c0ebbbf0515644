// Which steps a report counts as possible to evaluate again: what `svc verify --rejudge` finds, from the records alone.
import type { LogRecord } from '@svc/schemas'
import { expect, it } from 'vitest'
import { createRejudgeTally } from '../../report/tally/steps/rejudge.js'

type Step = readonly [task_id: string, seq: number, payload?: string, reads_memory?: boolean]

it.each<[string, readonly Step[], object]>([
  [
    'of a task from its beginning',
    [
      ['a', 1],
      ['a', 2],
    ],
    {},
  ],
  [
    'of a task that began earlier',
    [
      ['a', 3],
      ['a', 4, 'erased'],
    ],
    { task_began_earlier: 2 },
  ],
  [
    'after an erased payload',
    [
      ['a', 1],
      ['a', 2, 'erased'],
      ['b', 1],
      ['a', 3],
    ],
    { payload_erased: 2 },
  ],
  [
    'after a step that reads memory',
    [
      ['a', 1, 'kept', true],
      ['a', 2],
      ['b', 1],
    ],
    { reads_memory: 2 },
  ],
])('a step %s', (_, steps, reasons) => {
  const tally = createRejudgeTally(() => 0)
  for (const [index, [task_id, seq, payload = 'kept', memory = false]] of steps.entries())
    tally.add(index, { task_id, seq, agent_id: 'ag_1', policy_set: 'set' } as LogRecord, payload === 'kept', memory)
  const { possible, others } = tally.finish(() => false)
  expect(Object.fromEntries(others.map(({ reason, steps }) => [reason, steps]))).toEqual(reasons)
  const skipped = others.reduce((sum, { steps }) => sum + steps, 0)
  expect(possible + skipped).toBe(steps.length)
})

it('a step counts for one reason: its policy set, the facts of its agent, or its deleted record', () => {
  const tally = createRejudgeTally(() => 1)
  const record = { task_id: 'a', agent_id: 'ag_1', policy_set: 'set' } as LogRecord
  tally.add(0, { ...record, seq: 1 }, true, false)
  tally.add(1, { ...record, seq: 2 }, true, false)
  tally.addPruned()
  expect(tally.finish(() => true)).toEqual({
    steps: 3,
    possible: 0,
    others: ['agent_facts_unknown', 'policy_set_missing', 'record_pruned'].map((reason) => ({ reason, steps: 1 })),
  })
})

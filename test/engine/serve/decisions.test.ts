// Decisions whose steps do not come: reported once, after the deadline, also when the engine was killed in between.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Behavior } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { maxOpen } from '../../../engine/serve/decisions/decisions.js'
import { openDecisionFile } from '../../../engine/serve/decisions/file.js'
import { baselineSource } from '../../../engine/source/baseline.js'
import { engineHere } from '../../support/engine/local-engine.js'

const parent = mkdtempSync(join(tmpdir(), 'svc-decisions-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))
let folders = 0
const folder = () => join(parent, `d${folders++}`)

const begin = Date.UTC(2026, 0, 5, 9)
const timeout = 600_000
const exec: Behavior = { step_type: 'step.exec', step_name: 'make', properties: { exec: { command: 'make secret' } } }

/** An engine with the baseline, a clock that the test moves, and its data in a folder; questions wait as long as other decisions. */
function started(data?: string, at = begin, ask_timeout = timeout) {
  const time = { now: at }
  const clock = () => time.now
  const reports: string[] = []
  const file = data === undefined ? null : openDecisionFile(data, (line) => reports.push(line))
  const here = engineHere({ source: baselineSource(null, clock), clock, timeout, ask_timeout, file })
  const context = { agent_id: 'desk', environment: 'test', risk_classification: 'limited' } as const
  return {
    ...here,
    time,
    reports,
    evaluate: (task_id: string, intended: Behavior = exec, reserve = false) =>
      here.engine.evaluate({ intended, context: { ...context, task_id }, reserve }),
    record: (task_id: string, step: Behavior = exec) => here.engine.record({ step: { task_id, ...step } }),
    /** What a killed process leaves: its lock names a process that has ended. */
    kill: () => writeFileSync(join(data ?? '', 'decisions', 'lock'), '999999999 1'),
    unrecorded: () => here.trace.filter(({ kind }) => kind === 'unrecorded'),
    incidents: () => here.trace.filter(({ kind }) => kind === 'incident'),
    pass: (ms: number) => {
      time.now += ms
      here.decisions.check()
      here.decisions.save()
    },
  }
}

describe('a decision', () => {
  it('whose step is not recorded is one line after the deadline, and one for the operator', async () => {
    const { evaluate, pass, unrecorded, notes, decisions } = started()
    const { evaluation_id, action_digest, reason } = await evaluate('t')
    pass(timeout - 1)
    expect([unrecorded(), decisions.counts()]).toEqual([[], { open: 1, unrecorded: 0 }])
    pass(1)
    pass(timeout)
    expect(unrecorded()).toEqual([
      {
        kind: 'unrecorded',
        recorded_at: '2026-01-05T09:10:00.000Z',
        task_id: 't',
        agent_id: 'desk',
        evaluation_id,
        decided_at: '2026-01-05T09:00:00.000Z',
        outcome: 'ask',
        reason,
        action_digest,
        intended: { step_type: 'step.exec', step_name: 'make' },
        violations: [{ policy_id: expect.any(Number), name: expect.any(String), code: 'GATE_MISSING' }],
      },
    ])
    expect(decisions.counts()).toEqual({ open: 0, unrecorded: 1 })
    expect(notes.filter((line) => line.startsWith('not recorded:'))).toEqual([
      `not recorded: task t, step.exec "make": asked about 600 s ago, evaluation ${evaluation_id}; record it with \`output.status\` \`blocked\`, or give it up with /release`,
    ])
    expect(JSON.stringify(unrecorded())).not.toContain('secret')
  })

  const read: Behavior = { step_type: 'step.resource', verb: 'GET', step_name: 'read' }
  const ways: [string, (here: ReturnType<typeof started>, evaluation_id: string) => unknown][] = [
    ['its action', ({ record }) => record('t', { ...read, output: { rows: 3 } })],
    [
      'its id, also with another action',
      ({ record }, evaluation_id) => record('t', { ...read, input: { page: 2 }, meta: { evaluation_id } }),
    ],
    ['a step that was blocked', ({ record }) => record('t', { ...read, output: { status: 'blocked' } })],
    ['/release', ({ engine }, evaluation_id) => expect(engine.release({ evaluation_id }).settled).toBe(true)],
  ]
  it.each(ways)('is settled by %s', async (_, settle) => {
    const here = started()
    await settle(here, (await here.evaluate('t', read)).evaluation_id)
    here.pass(timeout)
    expect([here.unrecorded(), here.decisions.counts()]).toEqual([[], { open: 0, unrecorded: 0 }])
  })

  it('is not settled by another task, another action or an unknown id', async () => {
    const { evaluate, record, engine, decisions } = started()
    const { evaluation_id } = await evaluate('t', read)
    await record('u', { ...read, meta: { evaluation_id } })
    await record('t', { ...read, input: { page: 2 } })
    expect(engine.release({ evaluation_id: 'unknown' }).settled).toBe(false)
    expect(decisions.counts().open).toBe(1)
  })

  it('that blocks, is approved by a gate and evaluated again raises no alarm once the step is recorded', async () => {
    const { evaluate, record, pass, unrecorded, decisions } = started()
    expect((await evaluate('t')).blocked).toBe(true)
    await record('t', { step_type: 'step.gate', properties: { guard: { result: 'passed' } } })
    expect((await evaluate('t')).blocked).toBe(false)
    expect(decisions.counts().open).toBe(1)
    await record('t')
    pass(timeout)
    expect(unrecorded()).toEqual([])
  })

  it('that is repeated counts once, from the last time', async () => {
    const { evaluate, pass, unrecorded } = started()
    for (let retry = 0; retry < 5; retry++) {
      await evaluate('t')
      pass(timeout / 2)
    }
    expect(unrecorded()).toEqual([])
    pass(timeout / 2)
    expect(unrecorded()).toHaveLength(1)
  })

  it('is written at once when more wait than are followed', async () => {
    const { evaluate, unrecorded, decisions } = started()
    for (let task = 0; task <= maxOpen; task++) await evaluate(`t${task}`, read)
    expect([unrecorded(), decisions.counts()]).toEqual([
      [expect.objectContaining({ task_id: 't0', outcome: 'allow' })],
      { open: maxOpen, unrecorded: 1 },
    ])
  })

  it('is counted in a line of others when a caller records nothing at all', async () => {
    const { evaluate, pass, unrecorded, notes, decisions } = started()
    for (let task = 0; task < maxOpen + 200; task++) await evaluate(`t${task}`, read)
    expect(unrecorded()).toHaveLength(50)
    pass(1)
    expect(unrecorded().slice(50)).toMatchObject([{ task_id: 't199', others: 149 }])
    expect(decisions.counts()).toEqual({ open: maxOpen, unrecorded: 200 })
    const noted = notes.filter((line) => line.startsWith('not recorded:'))
    expect([noted.length, noted.at(-1)]).toEqual([21, expect.stringMatching(/^not recorded: 180 other decisions;/)])
    pass(1)
    expect([unrecorded().length, noted.length]).toEqual([51, 21])
  })

  it('that blocks has its line beside many that allow', async () => {
    const { evaluate, record, unrecorded } = started()
    await record('t80', { step_type: 'task.error' })
    for (let task = 0; task < maxOpen + 100; task++) await evaluate(`t${task}`, read)
    expect(unrecorded().slice(50)).toMatchObject([{ task_id: 't80', outcome: 'block' }])
  })
})

describe('a question', () => {
  const week = 7 * 24 * 3_600_000
  const asking = (data?: string, at = begin) => started(data, at, week)
  const gate = (action_digest: string | undefined, result: string): Behavior => ({
    step_type: 'step.gate',
    input: { action_digest: action_digest ?? '' },
    properties: { guard: { result } },
  })

  it('waits for days, and its step that is done then raises no alarm', async () => {
    const { evaluate, record, pass, unrecorded, incidents } = asking()
    expect((await evaluate('t')).outcome).toBe('ask')
    pass(week - 1)
    await record('t', { step_type: 'step.gate', properties: { guard: { result: 'passed' } } })
    await record('t')
    pass(week)
    expect([unrecorded(), incidents()]).toEqual([[], []])
  })

  it('that has no answer after its time is one line', async () => {
    const { evaluate, pass, unrecorded } = asking()
    await evaluate('t')
    pass(week)
    expect(unrecorded()).toMatchObject([{ task_id: 't', outcome: 'ask' }])
  })

  it.each(['task.end', 'task.error'] as const)('is not awaited after a %s', async (step_type) => {
    const { evaluate, record, pass, unrecorded, decisions } = asking()
    await evaluate('t')
    await evaluate('u')
    await record('t', { step_type })
    expect(decisions.counts().open).toBe(1)
    pass(week)
    expect(unrecorded()).toMatchObject([{ task_id: 'u' }])
  })

  it('is not awaited after /end_task, also by the process after a kill', async () => {
    const data = folder()
    const one = asking(data)
    await one.evaluate('t')
    one.pass(1000)
    one.kill()
    const two = asking(data, one.time.now)
    await two.engine.endTask({ task_id: 't' })
    two.kill()
    const three = asking(data, two.time.now)
    three.pass(week)
    expect(three.unrecorded()).toEqual([])
  })

  it('that a gate approves awaits its step as others do', async () => {
    const { evaluate, record, pass, unrecorded } = asking()
    const { approval_required = [] } = await evaluate('t')
    await record('t', gate(approval_required[0]?.action_digest, 'passed'))
    pass(timeout)
    expect(unrecorded()).toMatchObject([{ task_id: 't', outcome: 'allow', violations: [] }])
  })

  it('that a gate rejects is a block', async () => {
    const { evaluate, record, pass, unrecorded } = asking()
    const { approval_required = [] } = await evaluate('t')
    await record('u', gate(approval_required[0]?.action_digest, 'rejected'))
    await record('t', gate(approval_required[0]?.action_digest, 'rejected'))
    pass(timeout)
    expect(unrecorded()).toMatchObject([{ task_id: 't', outcome: 'block', violations: [{ code: 'GATE_MISSING' }] }])
  })

  it('gives way after all other decisions when there is no room', async () => {
    const { evaluate, unrecorded } = asking()
    await evaluate('question')
    await evaluate('other', { step_type: 'step.model' })
    for (let task = 0; task < maxOpen; task++) await evaluate(`t${task}`)
    expect(unrecorded()).toMatchObject([{ task_id: 'other' }, { task_id: 'question' }])
  })
})

describe('an attempt that was stopped', () => {
  const blocked: Behavior = {
    step_type: 'step.resource',
    verb: 'POST',
    step_name: 'pay',
    output: { status: 'blocked' },
  }

  it('is an occurrence once its decision is released, and once only', async () => {
    const { evaluate, engine, incidents, pass, unrecorded } = started()
    const { evaluation_id } = await evaluate('t')
    expect(engine.release({ evaluation_id })).toEqual({ status: 'ok', released: false, settled: true })
    expect(engine.release({ evaluation_id })).toEqual({ status: 'ok', released: false, settled: false })
    pass(timeout)
    expect(unrecorded()).toEqual([])
    expect(incidents()).toMatchObject([
      { task_id: 't', agent_id: 'desk', step: null, evaluation_id, effect: 'blocked', reason: 'violated' },
    ])
    expect(JSON.stringify(incidents())).not.toContain('secret')
  })

  it('that waited for a while is an occurrence also after a kill', async () => {
    const data = folder()
    const one = started(data)
    const { evaluation_id } = await one.evaluate('t')
    one.pass(1000)
    one.kill()
    const two = started(data, one.time.now)
    two.engine.release({ evaluation_id })
    expect(two.incidents()).toMatchObject([{ evaluation_id, effect: 'blocked', violation: { severity: 'critical' } }])
  })

  it('makes no incident when the step was allowed', async () => {
    const { evaluate, engine, incidents } = started()
    const { evaluation_id } = await evaluate('t', { step_type: 'step.resource', verb: 'GET', step_name: 'read' })
    engine.release({ evaluation_id })
    expect(incidents()).toEqual([])
  })

  it('is recorded without an end when the caller says so', async () => {
    const { engine, trace } = started()
    const types = () => trace.filter(({ kind }) => kind === 'step').map((line) => Reflect.get(line, 'step_type'))
    await engine.record({ step: { task_id: 't', ...blocked }, end: false })
    expect(types()).toEqual(['step.resource'])
    expect((await engine.record({ step: { task_id: 't', step_type: 'step.model' } })).step).toBe(2)
    await engine.record({ step: { task_id: 't', ...blocked } })
    expect(types()).toEqual(['step.resource', 'step.model', 'step.resource', 'task.error', 'task.end'])
  })
})

describe('the decisions on disk', () => {
  const textIn = (data: string) => readFileSync(join(data, 'decisions', 'open.jsonl'), 'utf8')

  it('are those that have waited for a while: after a kill they are reported once', async () => {
    const data = folder()
    const one = started(data)
    await one.evaluate('fast')
    await one.record('fast', { ...exec, output: { status: 'blocked' } })
    await one.evaluate('late')
    one.pass(499)
    expect(() => textIn(data)).toThrow()
    one.pass(1)
    await one.evaluate('young')
    one.kill()
    const two = started(data, one.time.now)
    two.pass(timeout - 500)
    expect(two.unrecorded()).toMatchObject([{ task_id: 'late', decided_at: '2026-01-05T09:00:00.000Z' }])
    two.kill()
    const three = started(data, two.time.now)
    three.pass(timeout)
    expect([three.unrecorded(), textIn(data)]).toEqual([[], ''])
  })

  it('are settled after a restart by the action or the id, and stay settled after a kill', async () => {
    const data = folder()
    const one = started(data)
    const ids = [(await one.evaluate('t')).evaluation_id, (await one.evaluate('u')).evaluation_id]
    await one.evaluate('v')
    one.pass(1000)
    one.kill()
    const two = started(data, one.time.now)
    expect(two.decisions.counts().open).toBe(3)
    await two.record('t', { ...exec, output: { status: 'blocked' } })
    expect(two.engine.release({ evaluation_id: ids[1] ?? '' }).settled).toBe(true)
    two.kill()
    const three = started(data, two.time.now)
    three.pass(timeout)
    expect(three.unrecorded()).toMatchObject([{ task_id: 'v' }])
  })

  it('are all written when the engine stops, and taken over by the next one', async () => {
    const data = folder()
    const one = started(data)
    const two = started(data)
    await one.evaluate('t')
    await two.evaluate('u')
    for (const { decisions } of [two, one]) decisions.close()
    const next = started(data)
    expect(next.decisions.counts().open).toBe(2)
    expect(started(data).decisions.counts().open).toBe(0)
  })

  it('may be torn or spoilt', async () => {
    const data = folder()
    const one = started(data)
    await one.evaluate('t')
    one.decisions.close()
    appendFileSync(join(data, 'decisions', 'open.jsonl'), '+{"task_id":1}\n+nonsense\n\n?\n+{"task_id":"cut')
    const two = started(data)
    two.pass(timeout)
    expect(two.unrecorded()).toHaveLength(1)
  })

  it('take little room, however many come and go', async () => {
    const data = folder()
    const here = started(data)
    await here.evaluate('first')
    for (let round = 0; round < 60; round++) {
      for (let task = 0; task < 50; task++) await here.evaluate(`t${round}-${task}`)
      here.pass(500)
      for (let task = 0; task < 50; task++)
        await here.record(`t${round}-${task}`, { ...exec, output: { status: 'blocked' } })
    }
    expect(textIn(data).split('\n').length).toBeLessThan(1200)
    here.decisions.close()
    expect(textIn(data).split('\n')).toHaveLength(2)
  })
})

describe('the end of a task', () => {
  const end = (here: ReturnType<typeof started>) => here.trace.filter(({ kind }) => kind === 'end')
  const recorded_at = '2026-01-05T09:00:00.000Z'

  it('has the number that a task.end would have', async () => {
    const here = started()
    await here.record('t', { step_type: 'task.start', agent_id: 'desk' })
    await here.record('t', { step_type: 'step.model' })
    await here.engine.endTask({ task_id: 't' })
    await here.record('u', { step_type: 'task.start' })
    await here.record('u', { step_type: 'task.end' })
    await here.record('v', { ...exec, output: { status: 'blocked' } })
    for (const task_id of ['u', 'v', 'w']) await here.engine.endTask({ task_id })
    expect(end(here)).toEqual([
      { kind: 'end', recorded_at, task_id: 't', step: 3, agent_id: 'desk' },
      { kind: 'end', recorded_at, task_id: 'u' },
      { kind: 'end', recorded_at, task_id: 'v' },
      { kind: 'end', recorded_at, task_id: 'w' },
    ])
  })
})

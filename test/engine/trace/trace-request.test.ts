// Lines of a trace as a request to the platform, and what its answers mean for each line.
import { describe, expect, it } from 'vitest'
import { traceOutcome, traceRequest } from '../../../engine/trace/delivery/trace-request.js'

const at = '"recorded_at":"2026-01-05T09:00:00.000Z"'
const step = (number: number) =>
  `{"kind":"step",${at},"task_id":"t","step":${number},"step_type":"step.exec","input":{"n":1.0}}`
const evaluation = `{"kind":"evaluation",${at},"task_id":"t","evaluation_id":"e"}`
const end = `{"kind":"end",${at},"task_id":"t"}`
const endWithStep = `{"kind":"end",${at},"task_id":"t","step":3,"agent_id":"me"}`
const incident = `{"kind":"incident",${at},"agent_id":null,"task_id":"t","step":1,"evaluation_id":"e"}`
const unrecorded = `{"kind":"unrecorded",${at},"task_id":"t","agent_id":null,"evaluation_id":"e"}`
const gap = `{"kind":"gap",${at},"task_id":null,"gap_id":"g","steps":2}`

const requestOf = (lines: readonly string[], agent_key: string) =>
  traceRequest(
    lines.map((line) => Buffer.from(line)),
    agent_key,
  )

describe('a request with lines of a trace', () => {
  it('has the text of steps as it is, an end with a step as task.end, and each other list in order', async () => {
    const lines = [incident, step(1), evaluation, gap, end, step(2), unrecorded, endWithStep]
    const request = requestOf(lines, 'a "key"')
    const { body, sources, unreadable } = request
    expect(JSON.parse(body ?? '')).toEqual({
      agent_key: 'a "key"',
      steps: [
        { task_id: 't', step: 1, step_type: 'step.exec', input: { n: 1 } },
        { task_id: 't', step: 2, step_type: 'step.exec', input: { n: 1 } },
        {
          task_id: 't',
          agent_id: 'me',
          step: 3,
          step_type: 'task.end',
          timestamp: '2026-01-05T09:00:00.000Z',
          meta: { 'svc.end': 'end_task' },
        },
      ],
      incidents: [JSON.parse(incident)],
      unrecorded: [JSON.parse(unrecorded)],
      gaps: [JSON.parse(gap)],
    })
    expect(body).toContain('"input":{"n":1.0}')
    expect(sources).toEqual({ steps: [1, 5, 7], incidents: [0], unrecorded: [6], gaps: [3] })
    expect(unreadable).toEqual([])
  })

  it.each([
    ['nothing but lines that stay here', [evaluation, end], []],
    [
      'lines of no trace',
      ['{"n":1}', '', 'x', `{"kind":"later",${at},"task_id":"t"}`, `{"kind":"end",${at},"task_id":}`],
      [0, 1, 2, 3, 4],
    ],
    ['lines that were cut off', [step(1).slice(0, -2), '\u0000\u0000'], [0, 1]],
  ])('has no body for %s', (_what, lines, broken) => {
    const request = requestOf(lines, 'a')
    expect([request.body, request.unreadable]).toEqual([null, broken])
    const outcome = traceOutcome(request, lines.length, Buffer.alloc(0), failure)
    expect([outcome?.taken, outcome?.rejected.map(({ line }) => line)]).toEqual([lines.length, broken])
  })
})

const failure = (problem: string) => ({ problem, retry_after: null, is_away: false })
const problem = { status: 422, code: 'INVALID', detail: 'why' }

const lines = [step(1), gap, evaluation, step(2), incident, step(3)]
const request = requestOf(lines, 'a')

describe('the answer to lines of a trace', () => {
  const outcome = (results: number[], incidents = [200], gaps = [201]) => {
    const of = (statuses: number[]) =>
      statuses.map((status) => (status < 400 ? { status, entry: {} } : { status, problem: { ...problem, status } }))
    const answer = { results: of(results), incidents: of(incidents), unrecorded: [], gaps: of(gaps) }
    const found = traceOutcome(request, lines.length, Buffer.from(JSON.stringify(answer)), failure)
    return found && [found.taken, found.rejected.map(({ line }) => line), found.later?.problem ?? null]
  }
  const later = (status: number) => `the platform takes a line of the trace later (${status} INVALID)`

  it.each([
    ['all new', outcome([201, 201, 201]), [6, [], null]],
    ['all known', outcome([200, 200, 200]), [6, [], null]],
    ['one rejected', outcome([201, 422, 201]), [6, [3], null]],
    ['all rejected', outcome([404, 409, 400], [422], [422]), [6, [0, 3, 5, 4, 1], null]],
    ['one for later', outcome([201, 503, 201]), [3, [], later(503)]],
    ['several for later', outcome([201, 201, 429], [500], [201]), [4, [], later(500)]],
    ['the first for later, others rejected', outcome([403, 422, 201]), [0, [], later(403)]],
    ['one rejected before one for later', outcome([422, 201, 503]), [5, [0], later(503)]],
    ['too few results', outcome([201, 201]), null],
  ])('with %s', (_what, found, expected) => {
    expect(found).toEqual(expected)
  })

  it('has no text of another server in a message', () => {
    const results = [1, 2, 3].map((n) => ({ status: 422, problem: { code: `\u001b[2J${n}`, detail: 'why' } }))
    const answer = { results, incidents: [{ status: 200 }], unrecorded: [], gaps: [{ status: 200 }] }
    const { rejected = [] } = traceOutcome(request, lines.length, Buffer.from(JSON.stringify(answer)), failure) ?? {}
    expect(new Set(rejected.map((one) => one.problem))).toEqual(
      new Set(['the platform rejects a line of the trace (422)']),
    )
  })

  it.each([
    '',
    'ok',
    '{}',
    '[]',
    'null',
    '{"results":[]}',
    '<h1>"status":2</h1>',
    '{"results":[1,2,3],"incidents":[1],"gaps":[1]}',
  ])('is not one of the platform: %j', (text) => {
    expect(traceOutcome(request, lines.length, Buffer.from(text), failure)).toBeNull()
  })
})

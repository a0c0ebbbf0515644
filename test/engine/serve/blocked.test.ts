// The records of a block: a line on stderr, a line in the trace, and its explanation.
import { join } from 'node:path'
import type { Evaluation, RecordedStep } from '@svc/schemas'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { runSvc, type Serve, startServe } from '../../support/engine/serve.js'
import { soon } from '../../support/server/soon.js'

const exec = { step_type: 'step.exec', step_name: 'make', input: { target: 'all' }, output: { text: 'secret' } }
const context = { agent_id: 'a', environment: 'test', risk_classification: 'limited' }

let serve: Serve
afterEach(() => serve.discard())

const evaluate = async (task_id: string, intended: object = exec) => {
  const body = { intended, context: { ...context, task_id } }
  const answer = await serve.post<Evaluation>('/evaluate', body)
  expect(answer.status).toBe(200)
  return answer.body
}
const record = async (task_id: string, step: object) => {
  const { status, body } = await serve.post<RecordedStep>('/record', { step: { task_id, ...step } })
  expect(status).toBe(200)
  return body.step
}
const trace = () => join(serve.folder, 'data', 'traces.jsonl')
const evaluations = async () => {
  await serve.post('/end_task', { task_id: 'flush' })
  return serve.trace().filter(({ kind }) => kind === 'evaluation')
}
/** A line on stderr may arrive after the answer. */
const blockedLines = () =>
  vi.waitFor(() => {
    const lines = serve.printed().err.split('\n').slice(0, -1)
    expect(lines).not.toEqual([])
    return lines
  }, soon)

describe('a blocked step', () => {
  it('is one line on stderr, and an allowed step has no line', async () => {
    serve = await startServe(['--baseline'])
    await evaluate('t-1', { step_type: 'step.model', verb: 'POST' })
    const { violations } = await evaluate('t-1')
    const { reason, remedy } = violations[0]?.violation_details ?? {}
    const line = `approval required: task t-1, step.exec "make": ${reason} [Code runs only after a gate]; remedy: ${remedy}`
    expect(await blockedLines()).toEqual([line])
  })

  it('has the quotation marks of its reason as they are', async () => {
    serve = await startServe(['--baseline'])
    const agent = { ...context, task_id: 't-2', declared_tools: ['re"ad'] }
    await serve.post('/evaluate', { intended: { step_type: 'step.resource', step_name: 'upload' }, context: agent })
    expect(await blockedLines()).toEqual([expect.stringContaining('declared tools of the agent: `re"ad`')])
  })

  it('is one line for any step name', async () => {
    serve = await startServe(['--baseline'])
    const step_name = `a"\\\nblocked: task x\r\u2028\u202e\u001b[2J${'y'.repeat(900)}`
    await evaluate('t', { step_type: 'step.exec', step_name })
    const [line = '', ...more] = await blockedLines()
    expect(more).toEqual([])
    expect(line).toContain('"a\\"\\\\\\u000ablocked: task x\\u000d\\u2028\\u202e\\u001b[2Jyyy')
    expect(line.length).toBeLessThan(1000)
  })

  it('is in the trace with its decision, and is not a step of the task', async () => {
    serve = await startServe(['--baseline'])
    await record('t', { step_type: 'task.start' })
    const { evaluation_id, reason } = await evaluate('t')
    await evaluate('t', { step_type: 'step.model', verb: 'POST' })
    expect(await evaluations()).toMatchObject([
      {
        task_id: 't',
        evaluation_id,
        agent: context,
        intended: { ...exec, task_id: 't', agent_id: 'a' },
        decision: {
          action: 'block',
          outcome: 'ask',
          reason,
          violations: [{ name: 'Code runs only after a gate', code: 'GATE_MISSING', policy_id: expect.any(Number) }],
        },
      },
    ])
    serve = await serve.restart()
    expect(await record('t', { step_type: 'task.idle' })).toBe(2)
    const { code, out } = await runSvc(['explain', '--trace', trace(), '--task', 't', '--step', '2'])
    expect([code, out.split('\n')[0]]).toEqual([0, 'step 2 of task `t`: task.idle'])
  })

  it('is in the trace without its payload where payloads are not stored', async () => {
    serve = await startServe(['--baseline'], {}, { SVC_LOG_PAYLOADS: 'metadata_only' })
    await evaluate('t')
    const [line] = await evaluations()
    expect(line?.intended).toMatchObject({ step_type: 'step.exec', step_name: 'make' })
    expect(JSON.stringify(line)).not.toMatch(/secret|target/)
  })
})

describe('svc explain --evaluation', () => {
  it('reports the answer of every policy, on the history before it', async () => {
    serve = await startServe(['--baseline'])
    await record('t', { step_type: 'step.gate' })
    await serve.post('/end_task', { task_id: 't' })
    await record('t', { step_type: 'task.start', step: 7 })
    await record('other', { step_type: 'step.gate' })
    await record('t', { step_type: 'step.gate', output: { status: 'failed' } })
    const { evaluation_id, violations } = await evaluate('t')
    await record('t', { step_type: 'step.gate' })
    await serve.post('/end_task', { task_id: 't' })
    const args = ['explain', '--trace', trace(), '--evaluation', evaluation_id]
    const { code, out, err } = await runSvc(args)
    expect([code, err]).toEqual([0, 'svc explain: no manifest given, the bundled baseline is used\n'])
    expect(out.split('\n').slice(0, 4)).toEqual([
      `evaluation ${evaluation_id} of task \`t\`: step.exec make`,
      'ask (a person decides), risk score 1: 1 of 9 policies violated'.replace(
        '9',
        /of (\d+) policies/.exec(out)?.[1] ?? '',
      ),
      '',
      'asks  Code runs only after a gate  (critical; step_requires_gate)',
    ])
    expect(out).toMatch(/because {2}step 8 \(step\.gate\)/)
    expect(out).toMatch(/\npassed\n.*\nnot applicable\n/s)
    const json = JSON.parse((await runSvc([...args, '--json'])).out) as Record<string, unknown>
    expect(json).toMatchObject({ task_id: 't', step: null, evaluation_id, action: 'block' })
    const own = (json.policies as { name: string }[]).find(({ name }) => name === 'Code runs only after a gate')
    expect(own).toMatchObject({ violation_details: violations[0]?.violation_details })
  })

  it('needs an evaluation of the trace, and either a step or an evaluation', async () => {
    serve = await startServe(['--baseline'])
    await record('t', { step_type: 'step.gate' })
    const run = (...args: string[]) => runSvc(['explain', '--trace', trace(), ...args])
    expect(await run('--evaluation', 'nothing')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no evaluation that blocked or asked with the id `nothing`'),
    })
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('--step <number> or --evaluation <id>') })
    expect((await run('--evaluation', 'x', '--step', '1')).code).toBe(2)
  })
})

describe('evidence', () => {
  it('has the numbers of the steps, also when the task is read from the trace', async () => {
    serve = await startServe(['--baseline'])
    await record('t', { step_type: 'task.start', step: 1 })
    await record('t', { step_type: 'step.gate', step: 50, output: { status: 'failed' } })
    const evidence = async () => (await evaluate('t')).violations[0]?.violation_details?.evidence
    const expected = [
      { step: 50, step_type: 'step.gate' },
      { step: null, step_type: 'step.exec' },
    ]
    expect(await evidence()).toMatchObject(expected)
    serve = await serve.restart()
    expect(await evidence()).toMatchObject(expected)
  })
})

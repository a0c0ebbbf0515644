// The cases of approvals through the local engine, and what an operator sees of them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Evaluation, RecordedStep } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runSvc, type Serve, startServe } from '../../support/engine/serve.js'
import { approvalCases, approvalManifest, type Entrance, namedStep, play } from '../../support/http/approvals.js'
import { soon } from '../../support/server/soon.js'

let serve: Serve
beforeAll(async () => {
  serve = await startServe(['--policy-file', 'desk.yaml'], { 'desk.yaml': approvalManifest })
})
afterAll(() => serve.discard())

interface StoredEval {
  readonly policies: readonly {
    readonly name: string
    readonly violated: boolean
    readonly approved_by_step?: number
  }[]
}

const linesOf = (task_id: string, kind: string) =>
  serve.trace().filter((line) => line.task_id === task_id && line.kind === kind)

function entrance(task_id: string): Entrance {
  const context = { agent_id: 'desk', task_id, environment: 'development' }
  const post = async <T>(path: string, body: unknown) => {
    const answer = await serve.post<T>(path, body)
    expect([answer.status, answer.body]).toEqual([200, expect.anything()])
    return answer.body
  }
  return {
    evaluate: (intended) => post<Evaluation>('/evaluate', { intended, context }),
    send: (gate) => post('/record', gate).then(() => undefined),
    record: async (step) => {
      const recorded = await post<RecordedStep>('/record', { step: { ...step, task_id } })
      const line = await vi.waitFor(() => {
        const found = linesOf(task_id, 'step').find((one) => one.step === recorded.step)
        if (found === undefined) throw new Error('not on disk yet')
        return found
      }, soon)
      const { 'svc.eval': stored } = line.meta ?? {}
      const { policies } = stored as StoredEval
      const approved = policies.filter(({ approved_by_step }) => approved_by_step !== undefined)
      return {
        violated: policies.filter(({ violated }) => violated).map(({ name }) => name),
        approved: Object.fromEntries(approved.map(({ name, approved_by_step }) => [name, approved_by_step ?? 0])),
        asks: null,
      }
    },
    incidents: async () => {
      await post('/end_task', { task_id })
      const names = linesOf(task_id, 'incident').map(({ violation }) => (violation as { name: string }).name)
      return [...new Set(names)].sort()
    },
  }
}

describe('an approval at the local engine', () => {
  it.each(approvalCases.map((one) => [one.name, one] as const))('%s', (name, one) => play(one, entrance(name)))
})

describe('an approval after a restart', () => {
  it.each([
    { payloads: 'full', outcome: 'allow' },
    { payloads: 'metadata_only', outcome: 'ask' },
  ])('is $outcome with payloads $payloads in the trace', async ({ payloads, outcome }) => {
    const [args, files] = [['--policy-file', 'desk.yaml'], { 'desk.yaml': approvalManifest }]
    let own = await startServe(args, files, { SVC_LOG_PAYLOADS: payloads })
    const context = { agent_id: 'desk', task_id: 'restarted', environment: 'development' }
    const evaluate = async () =>
      (await own.post<Evaluation>('/evaluate', { intended: namedStep('repair'), context })).body
    const [missing] = (await evaluate()).approval_required ?? []
    expect((await own.post('/record', missing?.gate)).status).toBe(200)
    expect((await evaluate()).outcome).toBe('allow')
    own = await own.restart()
    expect((await evaluate()).outcome).toBe(outcome)
    await own.discard()
  })
})

describe('a step that is asked about', () => {
  it('is a line for the operator, a line of the trace, and counted', async () => {
    const { evaluate } = entrance('seen')
    const metric = async () => {
      const text = await (await fetch(`${serve.url}/metrics`)).text()
      return Number(/svc_evaluations_total\{outcome="ask"\} (\d+)/.exec(text)?.[1])
    }
    const before = await metric()
    const { evaluation_id, reason } = await evaluate(namedStep('repair'))
    expect(reason).toMatch(/^`Payments are approved` asks for an approval: /)
    expect(await metric()).toBe(before + 1)
    await vi.waitFor(
      () => expect(serve.printed().err).toMatch(/approval required: task seen, step\.resource "pay": /),
      soon,
    )
    await vi.waitFor(
      () =>
        expect(linesOf('seen', 'evaluation')).toMatchObject([
          {
            evaluation_id,
            decision: { action: 'block', outcome: 'ask', violations: [{ name: 'Payments are approved' }] },
          },
        ]),
      soon,
    )
  })

  it('is explained with the body that approves it, before and after', async () => {
    const { evaluate, send, record } = entrance('explained')
    const { evaluation_id, approval_required = [] } = await evaluate(namedStep('roof'))
    for (const { gate } of approval_required) await send(gate)
    await record(namedStep('roof'))
    const explain = (...args: string[]) =>
      runSvc(['explain', join(serve.folder, 'desk.yaml'), '--trace', trace, '--task', 'explained', ...args])
    const trace = join(serve.folder, 'data', 'traces.jsonl')
    expect(readFileSync(trace, 'utf8')).toContain('"outcome":"ask"')
    const asked = await runSvc([
      'explain',
      join(serve.folder, 'desk.yaml'),
      '--trace',
      trace,
      '--evaluation',
      evaluation_id,
    ])
    expect([asked.code, asked.err]).toEqual([0, ''])
    expect(asked.out).toContain('\nask (a person decides), risk score 1: 2 of 5 policies violated\n')
    expect(asked.out).toContain('\nasks  Payments are approved  (critical; field_in_list)\n')
    for (const { gate } of approval_required) expect(asked.out).toContain(`\n  ${JSON.stringify(gate)}\n`)
    const json = await runSvc([
      'explain',
      join(serve.folder, 'desk.yaml'),
      '--trace',
      trace,
      '--evaluation',
      evaluation_id,
      '--json',
    ])
    const explained = JSON.parse(json.out) as Evaluation
    expect(explained.approval_required?.map(({ gate }) => gate)).toEqual(approval_required.map(({ gate }) => gate))
    const done = await explain('--step', '3')
    expect(done.out).toContain('\nallow, risk score 0: 0 of 5 policies violated\n')
    expect(done.out).toContain(
      '\napproved\n  Payments are approved  (by the gate at step 1; field_in_list)\n' +
        '  Large payments need a second person  (by the gate at step 2; field_in_range)\n',
    )
  })
})

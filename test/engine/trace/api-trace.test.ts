// The trace of `svc serve` on its way to the platform: real processes, and a platform that is away, rejects, or is killed with.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineHealth, Evaluation } from '@svc/schemas'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { answerWith } from '../../support/engine/changing-source.js'
import { runSvc, type Serve, startServe } from '../../support/engine/serve.js'
import { startTracePlatform, type TracePlatform } from '../../support/engine/trace-platform.js'
import { soon } from '../../support/server/soon.js'

const running: Serve[] = []
const platforms: TracePlatform[] = []
afterEach(async () => {
  for (const serve of running.splice(0)) await serve.discard()
  for (const platform of platforms.splice(0)) {
    expect(platform.faults).toEqual([])
    await platform.stop().catch(() => undefined)
  }
})
async function platformWith(options: Parameters<typeof startTracePlatform>[0] = {}): Promise<TracePlatform> {
  const platform = await startTracePlatform(options)
  platforms.push(platform)
  return platform
}
async function started(env: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<Serve> {
  const serve = await startServe(args, {}, env)
  running.push(serve)
  return serve
}
async function restarted(serve: Serve): Promise<Serve> {
  const again = await serve.restart()
  running.push(again)
  return again
}
const record = async (serve: Serve, task_id: string, more: object = {}) => {
  const step = { task_id, step_type: 'step.exec', input: { text: `of ${task_id}` }, ...more }
  const { status, body } = await serve.post<{ step: number }>('/record', { step })
  expect(status).toBe(200)
  return body.step
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const traceOf = async (serve: Serve) => (await serve.call<EngineHealth>('GET', '/health')).body.trace
const arrived = (platform: TracePlatform, tasks: Readonly<Record<string, readonly number[]>>) =>
  vi.waitFor(() => expect(Object.fromEntries(platform.tasks)).toEqual(tasks), soon)
const folderOf = (serve: Serve) => {
  const spool = join(serve.folder, 'data', 'spool')
  return join(spool, readdirSync(spool)[0] ?? '')
}
const blocking = answerWith([
  {
    manifest_id: 'man_1',
    sha: '1',
    policies: [{ rule_type: 'field_not_empty', params: { field: 'step_name' }, severity: 'critical' }],
  },
])

describe('with policies of a platform', () => {
  it('steps and incidents go to the platform, evaluations and ends stay, and no file of traces is written', async () => {
    const platform = await platformWith({ policies: blocking })
    const serve = await started(platform.env)
    const context = { agent_id: 'ag_1', task_id: 't', environment: 'test' }
    const asked = await serve.post<Evaluation>('/evaluate', { intended: { step_type: 'step.exec' }, context })
    expect(asked.body.blocked).toBe(true)
    await record(serve, 't', { step_name: 'fine' })
    await record(serve, 't', { output: { status: 'blocked' } })
    await serve.post('/end_task', { task_id: 't' })
    await arrived(platform, { t: [1, 2, 3, 4] })
    expect(platform.steps.map(({ step_type }) => step_type)).toEqual([
      'step.exec',
      'step.exec',
      'task.error',
      'task.end',
    ])
    expect(platform.steps[0]).toMatchObject({ agent_id: 'ag_1', input: { text: 'of t' } })
    expect(platform.steps.every((step) => !('kind' in step) && !('recorded_at' in step))).toBe(true)
    await vi.waitFor(() => expect(platform.incidents.size).toBeGreaterThan(0), soon)
    await vi.waitFor(async () => expect(await traceOf(serve)).toMatchObject({ waiting_lines: 0 }), soon)
    expect(await traceOf(serve)).toMatchObject({ location: 'api', waiting_bytes: 0, oldest_at: null, dropped: 0 })
    expect((await traceOf(serve)).last_sent_at).not.toBeNull()
    expect(existsSync(join(serve.folder, 'data', 'traces.jsonl'))).toBe(false)
    expect([platform.counts.replayed, serve.printed().err.includes(platform.env.SVC_API_KEY ?? '')]).toEqual([0, false])
  })

  it('what was recorded while it was away arrives once and in order, however the engine ended', async () => {
    const platform = await platformWith()
    let serve = await started(platform.env)
    await record(serve, 'a')
    await arrived(platform, { a: [1] })
    await platform.stop()
    for (const round of range(0, 5))
      for (const task_id of ['a', 'b', 'c']) await record(serve, `${task_id}`, { step_name: `${round}` })
    await vi.waitFor(async () => expect((await traceOf(serve)).last_problem).toContain('ECONNREFUSED'), soon)
    const { waiting_lines, oldest_at } = await traceOf(serve)
    expect([waiting_lines, typeof oldest_at]).toEqual([15, 'string'])
    serve = await restarted(serve)
    expect((await traceOf(serve)).waiting_lines).toBe(15)
    await record(serve, 'b')
    serve.signal('SIGTERM')
    expect(await serve.ended).toBe(0)
    expect(serve.printed().err).toContain(
      '16 lines of the trace are not sent yet; the next start with the same location sends them',
    )
    await platform.start()
    serve = await restarted(serve)
    await record(serve, 'c')
    await arrived(platform, { a: range(1, 7), b: range(1, 7), c: range(1, 7) })
    expect(platform.counts.replayed).toBe(0)
  })

  it('a restart keeps the history of a task, also of what has been sent', async () => {
    const policies = answerWith([
      {
        manifest_id: 'man_1',
        sha: '1',
        policies: [{ rule_type: 'max_steps', params: { max: 3 }, severity: 'critical' }],
      },
    ])
    const platform = await platformWith({ policies })
    let serve = await started(platform.env)
    for (const _ of range(0, 3)) await record(serve, 't')
    await arrived(platform, { t: [1, 2, 3] })
    serve = await restarted(serve)
    expect(await record(serve, 't')).toBe(4)
    await arrived(platform, { t: [1, 2, 3, 4] })
  })

  it('SVC_LOG_PAYLOADS=metadata_only sends no payload, and keeps none on disk', async () => {
    const platform = await platformWith()
    const serve = await started({ ...platform.env, SVC_LOG_PAYLOADS: 'metadata_only' })
    await record(serve, 't', { input: { secret: 'content of a step' } })
    await arrived(platform, { t: [1] })
    const files = readdirSync(folderOf(serve)).map((file) => readFileSync(join(folderOf(serve), file), 'utf8'))
    expect([JSON.stringify(platform.steps), ...files].filter((text) => text.includes('content of'))).toEqual([])
  })
})

describe('a platform that rejects', () => {
  const rejectedIn = (serve: Serve) =>
    readFileSync(join(folderOf(serve), 'rejected.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { problem: string; detail: string; line: string })

  it('a step for good: it is kept beside the spool with the reason, and the others arrive', async () => {
    const platform = await platformWith()
    platform.rejectItem = (_list, { step }) => (step === 2 ? { status: 422, detail: 'found `secret-payload`' } : null)
    const serve = await started(platform.env)
    for (const _ of range(0, 4)) await record(serve, 't')
    await arrived(platform, { t: [1, 3, 4] })
    const [rejected] = await vi.waitFor(() => rejectedIn(serve), soon)
    expect(rejected).toMatchObject({
      problem: expect.stringContaining('422 INVALID'),
      detail: 'found `secret-payload`',
    })
    expect(JSON.parse(rejected?.line ?? '')).toMatchObject({ kind: 'step', task_id: 't', step: 2 })
    expect(serve.printed().err).toMatch(/rejects a line of the trace \(422 INVALID\): .*rejected\.jsonl/)
    expect(serve.printed().err).not.toContain('secret-payload')
    await vi.waitFor(async () => expect(await traceOf(serve)).toMatchObject({ rejected: 1, sent: 3 }), soon)
  })

  it('a whole request because of one line: the line is found', async () => {
    const platform = await platformWith()
    await platform.stop()
    const serve = await started(platform.env)
    for (const _ of range(0, 20)) await record(serve, 't')
    platform.reject = ({ steps }) => (steps.some(({ step }) => step === 7) ? { status: 422, code: 'INVALID' } : null)
    await platform.start()
    await arrived(platform, { t: range(1, 21).filter((step) => step !== 7) })
    await vi.waitFor(() => expect(rejectedIn(serve)).toHaveLength(1), soon)
  })

  const later: [number, string | undefined, RegExp][] = [
    [401, 'UNAUTHENTICATED', /SVC_API_KEY is wrong/],
    [403, 'FORBIDDEN', /scope `ingest`/],
    [404, 'NOT_FOUND', /SVC_API_URL is wrong, or the platform is older/],
    [400, undefined, /answered 400/],
    [302, undefined, /SVC_API_URL is wrong: .* redirects \(302\)/],
    [429, 'RATE_LIMITED', /answered 429/],
    [503, undefined, /answered 503/],
  ]
  it.each(later)('with %i %s: everything is kept, and the reason is reported once', async (status, code, message) => {
    const platform = await platformWith()
    let rejected = 0
    platform.reject = () => {
      rejected += 1
      return { status, ...(code !== undefined && { code }) }
    }
    const serve = await started(platform.env)
    for (const _ of range(0, 3)) await record(serve, 't')
    await vi.waitFor(() => expect(rejected).toBeGreaterThan(1), soon)
    const { waiting_lines, last_problem } = await traceOf(serve)
    expect([waiting_lines, last_problem]).toEqual([3, expect.stringMatching(message)])
    expect(serve.printed().err.match(/lines of the trace are kept and sent later/g)).toHaveLength(1)
    platform.reject = () => null
    await arrived(platform, { t: [1, 2, 3] })
    await vi.waitFor(() => expect(serve.printed().err).toContain('lines of the trace are being sent again'), soon)
  })

  it.each([403, 429, 503])(
    'one step for now with %i: it is sent again, and the order of its task stays',
    async (status) => {
      const platform = await platformWith()
      let rejected = 0
      await platform.stop()
      const serve = await started(platform.env)
      for (const _ of range(0, 6)) await record(serve, 't')
      platform.rejectItem = (_list, { step }) => {
        if (rejected >= 1 || step !== 3) return null
        rejected += 1
        return { status }
      }
      await platform.start()
      await vi.waitFor(() => expect(platform.tasks.get('t')?.toSorted()).toEqual(range(1, 7)), soon)
      expect(await traceOf(serve)).toMatchObject({ rejected: 0 })
      expect(platform.counts.replayed).toBe(3)
    },
  )
})

describe('a spool that is full', () => {
  const big = { input: { text: 'x'.repeat(400_000) } }

  it('drops new steps, counts them per task, and reports a gap for each; /record answers all the time', async () => {
    const platform = await platformWith()
    await platform.stop()
    let serve = await started({ ...platform.env, SVC_SPOOL_MIB: '4' })
    for (const index of range(0, 12)) await record(serve, index % 2 === 0 ? 'even' : 'odd', big)
    const { dropped, waiting_bytes } = await traceOf(serve)
    expect(dropped).toBeGreaterThan(3)
    expect(waiting_bytes).toBeLessThan(4 * 1024 * 1024)
    expect((await serve.post('/end_task', { task_id: 'other' })).status).toBe(200)
    expect(serve.printed().err.match(/spool of the trace is full .* raise SVC_SPOOL_MIB/g)).toHaveLength(1)
    const counts = join(folderOf(serve), 'dropped.json')
    await vi.waitFor(() => expect(existsSync(counts)).toBe(true), soon)
    const saved = JSON.parse(readFileSync(counts, 'utf8')) as { steps: number }[]
    serve = await restarted(serve)
    await platform.start()
    await vi.waitFor(() => expect(platform.gaps.size).toBe(2), soon)
    const steps = [...platform.gaps.values()].reduce((sum, gap) => sum + Number(gap.steps), 0)
    expect([steps, steps]).toEqual([dropped, saved.reduce((sum, gap) => sum + gap.steps, 0)])
    for (const gap of platform.gaps.values()) {
      const numbers = platform.tasks.get(String(gap.task_id)) ?? []
      expect(gap.first_step).toBe((numbers.at(-1) ?? 0) + 1)
      expect([numbers.length + Number(gap.steps), gap.last_step]).toEqual([6, 6])
    }
    const context = { agent_id: 'ag_1', task_id: 'even', environment: 'test' }
    const { body } = await serve.post<Evaluation>('/evaluate', { intended: { step_type: 'step.exec' }, context })
    expect(body.history_lost).toBe(true)
    await record(serve, 'new')
    await vi.waitFor(() => expect(platform.tasks.get('new')).toEqual([1]), soon)
    expect(existsSync(counts)).toBe(false)
  })

  it('says when there is room again', async () => {
    const platform = await platformWith()
    await platform.stop()
    const serve = await started({ ...platform.env, SVC_SPOOL_MIB: '4' })
    for (const _ of range(0, 10)) await record(serve, 't', big)
    for (const index of range(0, 150)) await record(serve, `task-${index}`)
    await platform.start()
    await vi.waitFor(() => expect(serve.printed().err).toMatch(/room again: \d+ lines of the trace were dropped/), soon)
    await vi.waitFor(() => expect(platform.gaps.size).toBe(151), soon)
    const metrics = await (await fetch(`${serve.url}/metrics`)).text()
    expect(metrics).toMatch(/^svc_trace_dropped_total 15\d$/m)
    for (const name of ['waiting_lines', 'waiting_bytes', 'oldest_seconds', 'rejected_total', 'sent_total'])
      expect(metrics).toMatch(new RegExp(`^svc_trace_${name} [\\d.]+$`, 'm'))
  })
})

describe('the location', () => {
  it.each([
    ['api with policies of a file', ['--baseline', '--log-location', 'api'], {}, 'api'],
    ['auto with policies of a file', ['--baseline'], { SVC_LOG_LOCATION: 'auto' }, 'file:data/traces.jsonl'],
    ['none with policies of the platform', ['--log-location', 'none'], {}, 'none'],
    ['a file with policies of the platform', [], { SVC_LOG_LOCATION: 'file:t.jsonl' }, 'file:t.jsonl'],
  ])('can be %s', async (_what, args, env, location) => {
    const platform = await platformWith()
    const serve = await started({ ...platform.env, ...env }, args)
    await record(serve, 't')
    if (location === 'api') await arrived(platform, { t: [1] })
    else expect(platform.counts.requests).toBe(0)
    const expected = location === 'api' ? 0 : null
    expect(await traceOf(serve)).toMatchObject({ location, dropped: expected, rejected: expected })
  })

  it.each([
    [
      ['--baseline', '--log-location', 'api'],
      {},
      '--log-location is `api`, which needs a platform: set SVC_API_URL and SVC_API_KEY and SVC_AGENT_KEY (or --agent-key)',
    ],
    [
      ['--baseline', '--agent-key', 'a'],
      { SVC_LOG_LOCATION: 'api', SVC_API_URL: 'http://x' },
      'SVC_LOG_LOCATION is `api`, which needs a platform: set SVC_API_KEY',
    ],
    [
      ['--baseline', '--log-location', 'api', '--agent-key', 'a'],
      { SVC_API_URL: 'http://u:secret@x', SVC_API_KEY: 'k' },
      'SVC_API_URL is not an http(s) address without a user name',
    ],
    [
      ['--baseline', '--log-location', 'moon'],
      {},
      '--log-location is `moon`, which is not a log location: use auto, file:PATH',
    ],
    [
      [],
      { SVC_API_URL: 'http://x', SVC_API_KEY: 'k', SVC_AGENT_KEY: 'a', SVC_SPOOL_MIB: '1' },
      'SVC_SPOOL_MIB must be a whole number of MiB from 4 to 1048576, found `1`',
    ],
  ])('%j %j ends with 1 and a message', async (args, env, message) => {
    const { code, err } = await runSvc(['serve', '--port', '0', ...args], env as Record<string, string>)
    expect([code, err]).toEqual([1, expect.stringContaining(message)])
    expect(err).not.toContain('secret')
  })
})

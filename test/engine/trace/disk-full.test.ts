// `svc serve` while the disk takes nothing more, as the limit for the size of files makes it do, and takes it again.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineHealth, Problem } from '@svc/schemas'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
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
async function startedWith(env: Readonly<Record<string, string>> = {}) {
  const platform = await startTracePlatform()
  platforms.push(platform)
  const serve = await startServe([], {}, { ...platform.env, ...env })
  running.push(serve)
  return { platform, serve }
}
const restarted = async (serve: Serve) => {
  const again = await serve.restart()
  running.push(again)
  return again
}
const record = async (serve: Serve, task_id: string, text = '') => {
  const step = { task_id, step_type: 'step.exec', input: { text } }
  expect((await serve.post('/record', { step })).status).toBe(200)
}
const evaluate = (serve: Serve, task_id: string) =>
  serve.post('/evaluate', {
    intended: { step_type: 'step.exec', input: { text: '' } },
    context: { agent_id: 'desk', task_id, environment: 'test' },
  })
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const traceOf = async (serve: Serve) => (await serve.call<EngineHealth>('GET', '/health')).body.trace
const arrived = (platform: TracePlatform, tasks: Readonly<Record<string, readonly number[]>>) =>
  vi.waitFor(() => expect(Object.fromEntries(platform.tasks)).toEqual(tasks), soon)
const errors = (serve: Serve, text: string) => serve.printed().err.split(text).length - 1
/** Bytes of a file; a write goes up to there, and then nothing is taken. */
const limitFiles = ({ pid }: Serve, bytes: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
const has_limits = spawnSync('prlimit', ['--version']).status === 0

describe.runIf(has_limits)('a full disk', () => {
  it('with a platform that answers: every step arrives once and in order, and each change is one line', async () => {
    const { platform, serve } = await startedWith()
    await record(serve, 't')
    limitFiles(serve, 1000)
    for (const _ of range(0, 20)) await record(serve, 't', 'x'.repeat(100))
    await arrived(platform, { t: range(1, 22) })
    expect((await evaluate(serve, 't')).status).toBe(200)
    limitFiles(serve, 'unlimited')
    for (const _ of range(0, 5)) await record(serve, 't')
    await arrived(platform, { t: range(1, 27) })
    expect((await serve.post('/end_task', { task_id: 'other' })).status).toBe(200)
    const fine = { waiting_lines: 0, dropped: 0, last_problem: null }
    await vi.waitFor(async () => expect(await traceOf(serve)).toMatchObject(fine), soon)
    expect(serve.printed().err).not.toContain('    at ')
    // What has arrived is deleted, so that there is room for a while.
    expect(errors(serve, 'the trace cannot be written: EFBIG')).toBeGreaterThan(0)
    expect(errors(serve, 'is being written to')).toBe(errors(serve, 'the trace cannot be written: EFBIG'))
    expect(platform.counts.replayed).toBe(0)
    expect(platform.gaps.size).toBe(0)
  })

  it('and a kill: steps that were only in memory are a gap, and the line that was cut off is never sent', async () => {
    const { platform, serve } = await startedWith()
    await platform.stop()
    await record(serve, 't')
    limitFiles(serve, 1000)
    for (const _ of range(0, 20)) await record(serve, 't', 'x'.repeat(100))
    const again = await restarted(serve)
    expect(again.printed().err).toMatch(/\d+ lines were lost when a process ended while the disk did not take them/)
    await platform.start()
    await vi.waitFor(() => expect(platform.gaps.size).toBe(1), soon)
    const [gap] = platform.gaps.values()
    expect((platform.tasks.get('t')?.length ?? 0) + Number(gap?.steps)).toBe(21)
    expect(await traceOf(again)).toMatchObject({ dropped: gap?.steps, rejected: 0 })
  })

  it('and a stop: what the platform does not take is reported as lost, not as kept', async () => {
    const { platform, serve } = await startedWith()
    await platform.stop()
    limitFiles(serve, 300)
    for (const _ of range(0, 5)) await record(serve, 't', 'x'.repeat(100))
    expect((await traceOf(serve)).last_problem).toContain('the trace cannot be written: EFBIG')
    const ended = await serve.post<Problem>('/end_task', { task_id: 'other' })
    expect([ended.status, ended.body.code]).toEqual([503, 'FULL'])
    serve.signal('SIGTERM')
    expect(await serve.ended).toBe(1)
    expect(serve.printed().err).toContain('those that are not on disk are lost')
    expect(serve.printed().err).not.toContain('    at ')
  })

  it('beyond what memory takes: steps are dropped, counted and reported once, and are a gap', async () => {
    const { platform, serve } = await startedWith()
    await platform.stop()
    limitFiles(serve, 1000)
    const text = 'x'.repeat(1_000_000)
    for (const _ of range(0, 20)) await record(serve, 't', text)
    const { dropped, waiting_lines } = await traceOf(serve)
    expect([dropped, waiting_lines].map((count) => (count ?? 0) > 2)).toEqual([true, true])
    expect(errors(serve, 'the disk does not take the trace')).toBe(1)
    const metrics = await (await fetch(`${serve.url}/metrics`)).text()
    expect(metrics).toMatch(/^svc_trace_dropped_total [1-9]\d*$/m)
    limitFiles(serve, 'unlimited')
    await platform.start()
    await vi.waitFor(() => expect(platform.gaps.size).toBe(1), soon)
    await record(serve, 't')
    const kept = 20 - (dropped ?? 0)
    await arrived(platform, { t: [...range(1, kept + 1), 21] })
    const [gap] = platform.gaps.values()
    expect(gap).toMatchObject({ task_id: 't', steps: dropped, first_step: kept + 1, last_step: 20 })
    expect(errors(serve, 'the spool has room again')).toBe(1)
  })

  it('leaves the decisions whole: after it and a kill, each that waits is reported and no other', async () => {
    const { serve } = await startedWith({
      SVC_LOG_LOCATION: 'stdout',
      SVC_DATA_DIR: 'data',
      SVC_RECORD_TIMEOUT_SECONDS: '4',
      SVC_ASK_TIMEOUT_SECONDS: '4',
    })
    const path = join(serve.folder, 'data', 'decisions', 'open.jsonl')
    const saved = () => readFileSync(path, 'utf8')
    await evaluate(serve, 'before')
    await vi.waitFor(() => expect(saved()).toContain('"before"'), soon)
    limitFiles(serve, saved().length + 40)
    await evaluate(serve, 'during')
    await vi.waitFor(() => expect(errors(serve, 'cannot be written')).toBe(1), soon)
    await record(serve, 'before')
    limitFiles(serve, 'unlimited')
    await evaluate(serve, 'after')
    await vi.waitFor(() => expect(saved()).toContain('"after"'), soon)
    const again = await restarted(serve)
    await vi.waitFor(() => expect(errors(again, 'not recorded: ')).toBe(2), soon)
    expect(again.printed().err).not.toContain('task before')
  })
})

describe('a second engine on one data directory', () => {
  it('says that histories may not be found after a restart; the first one does not', async () => {
    const data = mkdtempSync(join(tmpdir(), 'svc-shared-'))
    const { platform, serve } = await startedWith({ SVC_DATA_DIR: data })
    const second = await startServe([], {}, { ...platform.env, SVC_DATA_DIR: data })
    running.push(second)
    await record(serve, 'one')
    await record(second, 'two')
    await arrived(platform, { one: [1], two: [1] })
    expect([errors(serve, 'another engine uses'), errors(second, 'another engine uses')]).toEqual([0, 1])
    rmSync(data, { recursive: true })
  })
})

describe('a data directory that is removed while the engine runs', () => {
  it('is made again, and every step arrives', async () => {
    const { platform, serve } = await startedWith()
    await platform.stop()
    const data = join(serve.folder, 'data')
    await record(serve, 't')
    rmSync(data, { recursive: true })
    for (const _ of range(0, 3)) await record(serve, 't')
    expect(readdirSync(join(data, 'spool'))).toHaveLength(1)
    const again = await restarted(serve)
    await platform.start()
    await record(again, 'u')
    await arrived(platform, { t: range(1, 5), u: [1] })
  })
})

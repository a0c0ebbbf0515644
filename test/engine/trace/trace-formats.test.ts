// Where and how `svc serve` writes its trace, as a program: entries, spans, unrecorded decisions, and what it rejects at the start.
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createChecker } from '@svc/engine/parts'
import { documents, type EngineHealth, type JsonMap } from '@svc/schemas'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { attributesOf } from '../../../engine/convert/otel/any-value.js'
import { postSpans } from '../../../engine/trace/sinks/otlp.js'
import { runSvc, type Serve, startServe } from '../../support/engine/serve.js'
import { callsOf, gate } from '../../support/engine/task-calls.js'
import { soon } from '../../support/server/soon.js'

const running: Serve[] = []
const servers: Server[] = []
afterEach(async () => {
  for (const serve of running.splice(0)) await serve.discard()
  for (const server of servers.splice(0)) server.close()
})
async function started(args: readonly string[], env: Record<string, string> = {}): Promise<Serve> {
  const serve = await startServe(['--baseline', ...args], {}, env)
  running.push(serve)
  return serve
}
const linesIn = (text: string) =>
  text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as JsonMap] : []))

describe('the format entry', () => {
  const problemsOf = createChecker(Object.values(documents))('log-request.json')
  const outside = { 'target.trust': 'external' }
  /** A task that ends by /end_task, and one that is blocked. */
  const play = async (serve: Serve) => {
    const { record, endTask, evaluate } = callsOf(() => serve)
    await record('t', { step_type: 'task.start', agent_id: 'desk' })
    await record('t', {
      step_type: 'step.resource',
      verb: 'POST',
      step_name: 'upload',
      agent_id: 'desk',
      properties: outside,
    })
    await evaluate('t')
    await endTask('t')
    await record('u', { step_type: 'step.exec', output: { status: 'blocked' }, meta: { note: 'mine' } })
  }
  const finished = async (serve: Serve) => {
    serve.signal('SIGTERM')
    expect(await serve.ended).toBe(0)
  }

  it('writes bodies of POST /api/v1/logs to a file, and incidents as they are', async () => {
    const serve = await started(['--log-format', 'entry', '--log-location', 'file:entries.jsonl'])
    await play(serve)
    await finished(serve)
    const lines = linesIn(readFileSync(join(serve.folder, 'entries.jsonl'), 'utf8'))
    const entries = lines.filter(({ kind }) => kind !== 'incident')
    expect(lines.length - entries.length).toBe(2)
    expect(entries.flatMap(problemsOf)).toEqual([])
    expect(entries).toMatchObject([
      {
        task_id: 't',
        step: 1,
        step_type: 'task.start',
        agent_key: 'desk',
        is_external_call: false,
        has_write_permission: false,
      },
      {
        task_id: 't',
        step: 2,
        step_name: 'upload',
        is_external_call: true,
        has_write_permission: true,
        properties: outside,
      },
      { task_id: 't', step: 3, step_type: 'task.end', agent_key: 'desk', meta: { 'svc.end': 'end_task' } },
      { task_id: 'u', step: 1, step_type: 'step.exec', has_write_permission: true, output: { status: 'blocked' } },
      { task_id: 'u', step: 2, step_type: 'task.error' },
      { task_id: 'u', step: 3, step_type: 'task.end' },
    ])
    for (const entry of entries) expect(Object.keys(entry)).not.toContain('recorded_at')
  })

  it('writes them to standard output, under the key of the agent and without payloads', async () => {
    const env = {
      SVC_LOG_FORMAT: 'Entry',
      SVC_LOG_LOCATION: 'stdout',
      SVC_LOG_PAYLOADS: 'METADATA-ONLY',
      SVC_AGENT_KEY: 'refund-desk',
    }
    const serve = await started(['--incident-location', 'file:incidents.jsonl'], env)
    await play(serve)
    await finished(serve)
    const entries = linesIn(serve.printed().out)
    expect(entries.flatMap(problemsOf)).toEqual([])
    expect(new Set(entries.map(({ agent_key }) => agent_key))).toEqual(new Set(['refund-desk']))
    expect(entries[0]).toMatchObject({ meta: { agent_id: 'desk', 'svc.payloads': 'metadata_only' } })
    expect(serve.printed().out).not.toContain('mine')
  })

  it('is not read back: a task that goes on after a restart has lost its history, and is numbered on', async () => {
    const serve = await started(['--log-format', 'entry'])
    expect(await callsOf(() => serve).record('t', gate)).toBe(1)
    await finished(serve)
    const again = await serve.restart()
    running.push(again)
    const calls = callsOf(() => again)
    expect((await calls.evaluate('t')).history_lost).toBe(true)
    expect([await calls.record('t', gate), await calls.record('new', gate)]).toEqual([2, 1])
  })
})

describe('the location otlp', () => {
  /** A collector that can be away. */
  async function collector() {
    const state = {
      status: 503,
      answer: '{}',
      spans: [] as JsonMap[],
      requests: 0,
      headers: {} as JsonMap,
      services: new Set<unknown>(),
    }
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        state.requests += 1
        state.headers = { ...request.headers, path: request.url }
        if (state.status === 200) {
          const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString())
          for (const { resource, scopeSpans } of resourceSpans) {
            state.services.add(attributesOf(resource.attributes).get('service.name'))
            for (const { spans } of scopeSpans) state.spans.push(...spans)
          }
        }
        response.writeHead(state.status, { 'content-type': 'application/json' }).end(state.answer)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    servers.push(server)
    return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  it('sends each step once, also what waited while the collector was away and the engine was killed', async () => {
    const { state, url } = await collector()
    const env = { SVC_LOG_LOCATION: `otlp:${url}`, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20c2VjcmV0' }
    const serve = await started(['--agent-key', 'desk'], env)
    const { record } = callsOf(() => serve)
    await record('t', { step_type: 'task.start', agent_id: 'desk' })
    await record('t', { step_type: 'step.resource', verb: 'GET', step_name: 'read_order', input: { order: 7 } })
    await vi.waitFor(() => expect(serve.printed().err).toMatch(/does not take spans/), soon)
    const { trace } = (await serve.call<EngineHealth>('GET', '/health')).body
    expect([trace.waiting_lines, Date.now() - Date.parse(trace.oldest_at ?? '') >= 0]).toEqual([2, true])
    const after = await serve.restart()
    running.push(after)
    state.status = 200
    state.answer = '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}'
    await callsOf(() => after).record('t', { step_type: 'step.model', step: 3 })
    after.signal('SIGTERM')
    expect(await after.ended).toBe(0)
    const named = state.spans.map(({ name }) => name)
    // Spans are not read back: a policy that reads the history of the task is violated on its third step.
    expect(named).toEqual(['invoke_agent', 'execute_tool read_order', 'chat', 'svc.incident'])
    expect(state.spans.filter(({ kind, recorded_at }) => typeof kind !== 'number' || recorded_at)).toEqual([])
    expect([...state.services]).toEqual(['desk'])
    expect(state.headers).toMatchObject({
      path: '/v1/traces',
      authorization: 'Basic c2VjcmV0',
      'content-type': 'application/json',
    })
    expect(serve.printed().err).toMatch(/does not take spans \(503\); spans are kept and sent later/)
    expect(after.printed().err).toMatch(/1 spans were rejected: the reason is in .*rejected\.jsonl/)
    expect(serve.printed().err + after.printed().err).not.toContain('c2VjcmV0')
  })

  it('sends spans of earlier versions, whose lines have no head', async () => {
    const { state, url } = await collector()
    state.status = 200
    const lines = ['{"name":"one"}', '{"kind":"span","recorded_at":"2026-01-05T09:00:00.000Z","name":"two"}']
    const bytes = lines.map((line) => Buffer.from(line))
    const sent = await postSpans({ href: url, headers: {} }, 'desk', bytes, new AbortController().signal)
    expect([sent.kind, state.spans]).toEqual(['delivered', [{ name: 'one' }, { name: 'two' }]])
  })
})

describe('a decision without a record', () => {
  it('is reported by a running engine, also one that was killed in between', async () => {
    const serve = await started([], { SVC_ASK_TIMEOUT_SECONDS: '1.5' })
    const { evaluation_id } = await callsOf(() => serve).evaluate('t')
    await vi.waitFor(
      () => expect(readFileSync(join(serve.folder, 'data/decisions/open.jsonl'), 'utf8')).toContain(evaluation_id),
      soon,
    )
    const after = await serve.restart()
    running.push(after)
    const unrecorded = () => after.trace().filter(({ kind }) => kind === 'unrecorded')
    await vi.waitFor(() => expect(unrecorded()).toHaveLength(1), soon)
    expect(unrecorded()).toMatchObject([
      { task_id: 't', evaluation_id, outcome: 'ask', intended: { step_name: 'make' } },
    ])
    expect(after.printed().err).toMatch(/not recorded: task t, step\.exec "make": asked about \d+ s ago/)
    const metrics = await (await fetch(`${after.url}/metrics`)).text()
    expect(metrics).toMatch(/^svc_decisions_open 0\n[\s\S]*^svc_decisions_unrecorded_total 1$/m)
  })
})

describe('svc serve', () => {
  it.each([
    [{ SVC_LOG_PAYLOADS: 'metadata' }, [], /SVC_LOG_PAYLOADS must be all or metadata_only, found `metadata`/],
    [{ SVC_LOG_FORMAT: 'json' }, [], /SVC_LOG_FORMAT must be behavior or entry, found `json`/],
    [{}, ['--log-format', 'entries'], /--log-format must be behavior or entry, found `entries`/],
    [
      { SVC_LOG_FORMAT: 'entry' },
      ['--log-location', 'otlp:http://x.example'],
      /SVC_LOG_FORMAT is `entry`, which only stdout and file:PATH have/,
    ],
    [{ SVC_LOG_LOCATION: 'otlp:collector:4318' }, [], /write `otlp:` and an http\(s\) address/],
    [
      { SVC_LOG_LOCATION: 'otlp:http://x.example', OTEL_EXPORTER_OTLP_HEADERS: 'secret' },
      [],
      /OTEL_EXPORTER_OTLP_HEADERS must be/,
    ],
    [
      { SVC_LOG_LOCATION: 'somewhere' },
      [],
      /SVC_LOG_LOCATION is `somewhere`, which is not a log location: use auto, file:PATH, stdout, api, otlp:URL, none/,
    ],
    [
      { SVC_RECORD_TIMEOUT_SECONDS: 'ten' },
      [],
      /SVC_RECORD_TIMEOUT_SECONDS must be a number of seconds, or 0 .* found `ten`/,
    ],
    [{ SVC_RECORD_TIMEOUT_SECONDS: '-1' }, [], /SVC_RECORD_TIMEOUT_SECONDS must be/],
  ] as [Record<string, string>, string[], RegExp][])('rejects %j %j at the start', async (env, args, problem) => {
    const { code, err } = await runSvc(['serve', '--port', '0', '--baseline', ...args], env)
    expect([code, err]).toEqual([1, expect.stringMatching(problem)])
  })
})

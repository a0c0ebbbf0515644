// Where `svc serve` delivers incidents: every location and format as a program, and what it rejects at the start.
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { runSvc, type Serve, startServe } from '../../support/engine/serve.js'
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
interface Sent {
  readonly evaluation_id?: string
  readonly step_type?: string
  readonly input?: unknown
  readonly meta?: Record<string, { evaluation_id?: string }>
}
/** A receiver that can be away; `got` holds the incidents that it took. */
async function receiver() {
  const state = { status: 200, got: [] as Sent[], authorization: [] as unknown[] }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      state.authorization.push(request.headers.authorization)
      if (state.status === 200) state.got.push(...(JSON.parse(Buffer.concat(chunks).toString()) as Sent[]))
      response.writeHead(state.status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}
const violate = async (serve: Serve, task_id: string) => {
  const step = { step_type: 'step.exec', agent_id: 'me', input: { secret: 'a word for Mia' } }
  expect((await serve.post('/record', { step: { ...step, task_id } })).status).toBe(200)
}
const linesOf = (text: string) =>
  text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Sent] : []))

describe('svc serve', () => {
  it('writes incidents to the trace by default', async () => {
    const serve = await started([])
    await violate(serve, 't')
    const incidents = () => serve.trace().filter(({ kind }) => kind === 'incident')
    await vi.waitFor(() => expect(incidents().length).toBeGreaterThan(0), soon)
    const [step] = serve.trace().filter(({ kind }) => kind === 'step')
    const [incident] = incidents()
    expect(step?.meta?.['svc.eval']).toMatchObject({ evaluation_id: incident?.evaluation_id })
  })

  it('writes them to a file or to standard output instead, as incidents or as steps without payloads', async () => {
    const file = await started(['--incident-location', 'file:out/incidents.jsonl', '--incident-format', 'behavior'])
    await violate(file, 't')
    file.signal('SIGTERM')
    expect(await file.ended).toBe(0)
    const [line] = linesOf(readFileSync(join(file.folder, 'out/incidents.jsonl'), 'utf8'))
    expect(line).toMatchObject({ step_type: 'step.exec', meta: { 'svc.incident': { kind: 'incident' } } })
    expect(JSON.stringify(line)).not.toContain('Mia')
    expect(file.trace().some(({ kind }) => kind === 'incident')).toBe(false)
    const out = await started([], { SVC_INCIDENT_LOCATION: 'stdout' })
    await violate(out, 't')
    await vi.waitFor(() => expect(linesOf(out.printed().out)[0]).toMatchObject({ kind: 'incident' }), soon)
    expect(out.printed().out).not.toContain('svc serve:')
  })

  it('sends them to an address in order, keeps them while it is away, and never sends it the key', async () => {
    const { state, url } = await receiver()
    state.status = 503
    const serve = await started(['--incident-location', url], { SVC_API_KEY: 'SvcKey-secret' })
    for (let task = 0; task < 5; task++) await violate(serve, `t${task}`)
    await vi.waitFor(() => expect(state.authorization.length).toBeGreaterThan(0), soon)
    await vi.waitFor(() => expect(serve.printed().err).toContain('503'), soon)
    const after = await serve.restart()
    running.push(after)
    state.status = 200
    await violate(after, 'later')
    const ids = () => state.got.map(({ evaluation_id }) => evaluation_id)
    await vi.waitFor(() => expect(new Set(ids()).size).toBe(6), soon)
    expect(state.got.map((line) => (line as { task_id?: string }).task_id)).toEqual(
      state.got
        .map((line) => (line as { task_id?: string }).task_id)
        .toSorted((a = '', b = '') => Number(a === 'later') - Number(b === 'later') || a.localeCompare(b)),
    )
    expect(new Set(state.authorization)).toEqual(new Set([undefined]))
    expect(existsSync(join(after.folder, 'data'))).toBe(true)
  })

  const wrong: [string[], Record<string, string>, RegExp][] = [
    [['--incident-location', 'somewhere'], {}, /--incident-location must be trace, stdout, file:PATH, api/],
    [[], { SVC_INCIDENT_LOCATION: 'ftp://x' }, /SVC_INCIDENT_LOCATION must be trace/],
    [
      [],
      { SVC_INCIDENT_LOCATION: 'https://user:secret@x.example' },
      /SVC_INCIDENT_LOCATION must be .*without a user name/,
    ],
    [[], { SVC_INCIDENT_LOCATION: 'file:' }, /SVC_INCIDENT_LOCATION must be/],
    [[], { SVC_INCIDENT_LOCATION: 'api' }, /SVC_INCIDENT_LOCATION is `api`.*SVC_API_URL and SVC_API_KEY/],
    [['--incident-format', 'xml'], {}, /--incident-format must be incident or behavior, found `xml`/],
    [[], { SVC_INCIDENT_FORMAT: 'behavior' }, /set SVC_INCIDENT_LOCATION to stdout/],
  ]
  it.each(wrong)('rejects %j %j at the start', async (args, env, problem) => {
    const { code, err } = await runSvc(['serve', '--port', '0', '--baseline', ...args], env)
    expect([code, err]).toEqual([1, expect.stringMatching(problem)])
  })
})

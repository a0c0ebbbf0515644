// What a proxy, a login page or a broken platform answers to the trace and to incidents: what was sent is kept, with a reason.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { postLines } from '../../../engine/trace/delivery/post-lines.js'
import { postTraces } from '../../../engine/trace/delivery/post-traces.js'
import { postSpans } from '../../../engine/trace/sinks/otlp.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})
type Answer = (response: ServerResponse, request: IncomingMessage) => unknown
async function serverWith(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => void answer(response, request))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const api_key = 'SvcKey-0123456789abcdef'
const lines = [1, 2].map((step) =>
  Buffer.from(
    `{"kind":"step","recorded_at":"2026-01-05T09:00:00.000Z","task_id":"t","step_type":"step.exec","step":${step}}`,
  ),
)
const spans = [Buffer.from('{}')]
const never = new AbortController().signal
const traces = (url: string, sent = lines) => postTraces({ url, api_key, agent_key: 'desk' }, sent, never)
const incidents = (url: string, key: string | null = api_key) =>
  postLines({ href: `${url}/in`, api_key: key }, lines, never)
const json =
  (status: number, value: unknown): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }
const page: Answer = (response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>please log in</h1>')

const notOfPlatform: readonly (readonly [string, Answer])[] = [
  ['a page with 200', page],
  ['JSON of another server', json(200, { status: 200, message: 'ok' })],
  ['a status for each line without results', json(200, [{ status: 200 }, { status: 200 }])],
  ['fewer results than lines', json(200, { results: [{ status: 201 }] })],
  ['more results than lines', json(200, { results: [{ status: 201 }, { status: 201 }, { status: 201 }] })],
  ['results without a status', json(200, { results: [{}, {}] })],
  ['nothing', (response) => response.writeHead(204).end()],
  ['a redirect', (response) => response.writeHead(302, { location: '/login' }).end()],
  ['text that is not gzip', (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('{}')],
  [
    'an end in the middle',
    (response) => response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
  ],
  ['a gigabyte', (response) => endless(response)],
  ['a gigabyte in a megabyte', (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)],
]
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
function endless(response: ServerResponse): void {
  const part = Buffer.alloc(1024 * 1024, ' ')
  const more = () => {
    while (!response.destroyed && response.write(part));
  }
  response.writeHead(200, { 'content-length': String(1024 ** 3) }).on('drain', more)
  more()
}

describe('an answer that is not one of the platform', () => {
  it.each(notOfPlatform)('%s keeps the lines of the trace', async (_what, answer) => {
    const delivery = await traces(await serverWith(answer))
    expect(delivery).toMatchObject({ kind: 'failed', problem: expect.stringMatching(/./) })
  })

  it.each(notOfPlatform.filter(([what]) => what !== 'results without a status'))(
    '%s keeps the incidents',
    async (_what, answer) => {
      expect(await incidents(await serverWith(answer))).toMatchObject({ kind: 'failed' })
    },
  )

  it('one line is not taken for any JSON with a status', async () => {
    const url = await serverWith(json(200, { status: 200 }))
    expect(await traces(url, lines.slice(0, 1))).toMatchObject({ kind: 'failed' })
  })

  it('a page keeps spans, and incidents of other receivers', async () => {
    const url = await serverWith(page)
    expect(await postSpans({ href: url, headers: {} }, 'svc', spans, never)).toMatchObject({ kind: 'failed' })
    expect(await incidents(url, null)).toMatchObject({ kind: 'failed' })
    expect(await incidents(await serverWith((response) => response.writeHead(204).end()), null)).toMatchObject({
      kind: 'delivered',
    })
  })

  it.each([413, 422, 409])('%i without a problem document: only the size is final', async (status) => {
    const url = await serverWith((response) => response.writeHead(status).end('no'))
    expect((await traces(url)).kind).toBe(status === 413 ? 'rejected' : 'failed')
  })

  it('a task that ended is the end of that line only', async () => {
    const ended = { status: 409, problem: { code: 'TASK_ENDED', detail: 'the task has ended' } }
    const url = await serverWith(json(200, { results: [{ status: 201 }, ended] }))
    expect(await traces(url)).toMatchObject({
      kind: 'delivered',
      taken: 2,
      rejected: [{ line: 1, problem: expect.stringContaining('409 TASK_ENDED') }],
    })
  })
})

describe('an answer that quotes the request', () => {
  const quoting =
    (status: number): Answer =>
    (response, { headers: { authorization, 'x-tenant-key': other } }) => {
      const detail = `found \`${authorization} ${other}\` and \`a payload\``
      const problem = { type: 'about:blank', title: 'no', status, code: 'INVALID', detail }
      response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
    }
  const reported = (delivery: unknown) => {
    const { problem = '' } = delivery as { problem?: string }
    expect(problem).not.toContain('a payload')
    return JSON.stringify(delivery)
  }

  it.each([400, 401, 403, 404, 422, 500])('with %i reaches no message, and the key nothing at all', async (status) => {
    const url = await serverWith(quoting(status))
    const headers = { 'x-tenant-key': 'a-secret-of-the-collector' }
    const deliveries = [
      await traces(url),
      await incidents(url),
      await postSpans({ href: url, headers }, 's', spans, never),
    ]
    const text = deliveries.map(reported).join()
    expect(text).not.toContain(api_key)
    expect(text).not.toContain('a-secret-of')
  })

  it('a key that no header can have is not in the message', async () => {
    const url = await serverWith(json(200, {}))
    const delivery = await postTraces({ url, api_key: 'SvcKey-se\ncret', agent_key: 'desk' }, lines, never)
    expect(delivery).toMatchObject({ kind: 'failed' })
    expect(JSON.stringify(delivery)).not.toContain('SvcKey')
  })
})

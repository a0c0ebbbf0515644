// Requests that carry lines of a trace: their headers, and receivers that answer early, close connections or never answer.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { post } from '../../../engine/trace/delivery/post.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function receiver(listener: RequestListener): Promise<Server & { readonly href: string }> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(server, { href: `http://127.0.0.1:${(server.address() as AddressInfo).port}/lines` })
}
const bodyOf = async (request: IncomingMessage) => Buffer.concat(await request.toArray())
const send = (href: string, body = '[1]', more: object = {}) =>
  post({ href, api_key: 'the key', body, timeout_ms: 10_000, noun: 'lines', ...more }, new AbortController().signal)

describe('a request with lines', () => {
  it('has its length, its type and the key, and the answer its status, headers and bytes', async () => {
    const body = 'é'.repeat(1_000_000)
    const found: unknown[] = []
    const { href } = await receiver(async (request, response) => {
      const { headers, url } = request
      const { length } = await bodyOf(request)
      found.push(
        url,
        headers['content-length'],
        headers['content-type'],
        headers.authorization,
        headers['x-own'],
        length,
      )
      response.writeHead(429, { 'retry-after': '7' }).end('later')
    })
    const answer = await send(href, body, { headers: { 'x-own': 'a' } })
    expect(found).toEqual(['/lines', '2000000', 'application/json', 'Bearer the key', 'a', 2_000_000])
    if ('problem' in answer) throw new Error(answer.problem)
    expect([answer.status, answer.headers.get('retry-after'), answer.bytes.toString()]).toEqual([429, '7', 'later'])
  })

  it('has the answer of a receiver that does not read it', async () => {
    const { href } = await receiver((_request, response) => response.writeHead(413).end('too large'))
    const answer = await send(href, 'x'.repeat(20_000_000))
    expect(answer).toMatchObject({ status: 413 })
    expect(await send(href)).toMatchObject({ status: 413 })
  })

  it('follows no redirect', async () => {
    const paths: (string | undefined)[] = []
    const { href } = await receiver((request, response) => {
      paths.push(request.url)
      response.writeHead(307, { location: '/other' }).end()
    })
    expect(await send(href)).toMatchObject({ status: 307 })
    expect(paths).toEqual(['/lines'])
  })

  it('is made once more when the receiver has closed a connection that was idle', async () => {
    const ports: (number | undefined)[] = []
    const { href } = await receiver(async (request, response) => {
      await bodyOf(request)
      ports.push(request.socket.remotePort)
      // The second request on a connection gets no answer, as if the connection had been closed before.
      if (ports.filter((port) => port === request.socket.remotePort).length > 1) request.socket.resetAndDestroy()
      else response.end('{}')
    })
    expect(await send(href)).toMatchObject({ status: 200 })
    await new Promise(setImmediate)
    expect(await send(href)).toMatchObject({ status: 200 })
    expect([ports.length, new Set(ports).size]).toEqual([3, 2])
  })

  it.each([
    ['closes each connection', (request: IncomingMessage) => void request.socket.destroy(), 10_000, 'ECONNRESET'],
    ['never answers', () => undefined, 300, 'no answer within 0.3 s'],
  ])('fails for now when the receiver %s', async (_what, listener, timeout_ms, problem) => {
    const { href } = await receiver(listener)
    const body = 'x'.repeat(8_000_000)
    const failure = { problem: `lines cannot be sent to ${new URL(href).origin}: ${problem}` }
    expect(await send(href, body, { timeout_ms })).toEqual({ ...failure, retry_after: null, is_away: true })
  })

  it('fails for now when nothing listens, and when it is stopped', async () => {
    const server = await receiver(() => undefined)
    const stopping = new AbortController()
    const stopped = post(
      { href: server.href, api_key: null, body: '1', timeout_ms: 10_000, noun: 'lines' },
      stopping.signal,
    )
    server.on('request', () => stopping.abort())
    expect(await stopped).toMatchObject({ is_away: true })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    expect(await send(server.href)).toMatchObject({ problem: expect.stringContaining('ECONNREFUSED'), is_away: true })
  })
})

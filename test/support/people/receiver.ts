// A real receiver of webhooks on this machine, whose answers a test decides, and which can be stopped and started on its port.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly id: string
  readonly headers: Record<string, string>
  /** The bytes as text. */
  readonly text: string
  readonly body: { type: string; timestamp: string; data: Record<string, Record<string, unknown>> }
  readonly status: number
}

type Respond = (request: IncomingMessage, response: ServerResponse, count: number) => void

export interface Receiver {
  readonly url: string
  /** What it received, in order. */
  readonly received: Received[]
  /** Changes its answers: a status, or a function that answers. */
  readonly answer: (how: number | Respond) => void
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let how: number | Respond = 200
  let port = 0
  let server: Server
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      if (typeof how === 'number') response.writeHead(how).end(how === 204 ? undefined : 'thank you')
      else how(request, response, received.length)
      const headers = request.headers as Record<string, string>
      const { statusCode: status } = response
      received.push({ id: headers['webhook-id'] ?? '', headers, text, body: JSON.parse(text), status })
    })
  }
  const start = async () => {
    server = createServer(take)
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
    port = (server.address() as AddressInfo).port
  }
  const stop = async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  await start()
  const answer = (next: number | Respond) => {
    how = next
  }
  return { url: `http://127.0.0.1:${port}/hooks/svc`, received, answer, stop, start }
}

// `svc witness`: the witness over HTTP.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Writable } from 'node:stream'
import { takeLock } from '@svc/engine/parts'
import { parseVerifier, smallOrderProblem, type Verifier } from '@svc/proof'
import { openWitness, type Witness } from './witness-memory.js'

export interface WitnessOptions {
  readonly name: string
  readonly log: readonly string[]
  readonly dir: string
  readonly host: string
  readonly port: number
}

/** Far more than a request with the longest proof. */
const maxRequestBytes = 128 * 1024

/** Runs until SIGTERM or SIGINT; returns the exit code. */
export async function runWitness(options: WitnessOptions, out: Writable, err: Writable): Promise<number> {
  let unlock = () => {}
  try {
    const { dir: folder, name, host, port, log } = options
    if (log.length === 0)
      throw new Error('`--log` is missing: give the key of each log to watch, the `key` of its checkpoint')
    // Two witnesses with one memory could sign two histories of a log.
    unlock = takeLock(folder, 'give another --dir')
    const witness = openWitness({ folder, name, logs: log.map(logKey), clock: Date.now })
    const server = witnessServer(witness, (error) => err.write(`svc witness: ${String(error)}\n`))
    await listen(server, port, host)
    const { address, port: own, family } = server.address() as AddressInfo
    const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${own}`
    out.write(
      `svc witness: watching ${log.length} ${log.length === 1 ? 'log' : 'logs'} at ${url}/add-checkpoint\nits key: ${witness.key}\n`,
    )
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
    })
    await new Promise((resolve) => server.close(resolve))
    return 0
  } catch (error) {
    err.write(`svc witness: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  } finally {
    unlock()
  }
}

function logKey(text: string): Verifier {
  const key = parseVerifier(text)
  if (key?.kind === 'note') return key
  const problem = smallOrderProblem(text)
  if (problem !== null) throw new Error(`\`--log\`: ${problem}`)
  throw new Error(
    `\`--log\` is \`${text}\`, which is not the key of a log: give the \`key\` of its checkpoint, \`name+id+key\``,
  )
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
}

/** Serves POST /add-checkpoint. */
function witnessServer(witness: Witness, report: (error: unknown) => void): Server {
  const timeouts = { headersTimeout: 10_000, requestTimeout: 20_000, connectionsCheckingInterval: 2_000 }
  const server = createServer(timeouts, async (request, response) => {
    if (!server.listening) response.shouldKeepAlive = false
    try {
      if (request.url !== '/add-checkpoint')
        return send(response, 404, 'not found: the only address is /add-checkpoint\n')
      if (request.method !== 'POST') return send(response, 405, 'the method must be POST\n')
      const text = await bodyOf(request)
      if (text === null) return send(response.setHeader('connection', 'close'), 413, 'the request is too large\n')
      const { status, type, body } = witness.add(text)
      send(response, status, body, type)
    } catch (error) {
      report(error)
      send(response, 500, 'internal error\n')
    }
  })
  return server
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxRequestBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function send(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
}

// The HTTP server of this process.
import { createServer, type Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** The maximum time for a request to arrive, ms: 8 MiB over a slow connection. */
const requestTimeoutMs = 60_000
/** Load balancers reuse idle connections for about a minute; a request on one that the platform has closed would fail. */
const idleTimeoutMs = 75_000

export function createListener(): Server {
  return createServer({ requestTimeout: requestTimeoutMs, keepAliveTimeout: idleTimeoutMs })
}

/** The URL of the listener on this machine. */
export function addressOf(listener: Server): string {
  const at = listener.address()
  if (at === null || typeof at === 'string') return 'http://127.0.0.1'
  return `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`
}

/**
 * Aborts `stopping`, answers for so many seconds more, so that load balancers send requests elsewhere, then stops accepting
 * connections; resolves when every request in progress is answered.
 */
export async function closeServer(listener: Server, stopping: AbortController, drain_seconds: number): Promise<void> {
  stopping.abort()
  if (!listener.listening) return
  if (drain_seconds > 0) await delay(drain_seconds * 1000)
  // Connections with a request in progress close after its answer.
  listener.keepAliveTimeout = 1
  const closed = new Promise((resolve) => listener.close(resolve))
  listener.closeIdleConnections()
  await closed
}

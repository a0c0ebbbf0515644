// The HTTP server of this process.
import { createServer, type Server } from 'node:http'

/** How long a request may take to arrive, ms: 8 MiB over a slow line. */
const requestTimeoutMs = 60_000
/** Longer than the minute that load balancers keep connections: they would send into one that is being closed. */
const idleConnectionMs = 75_000

export function createListener(): Server {
  return createServer({ requestTimeout: requestTimeoutMs, keepAliveTimeout: idleConnectionMs })
}

/** Where the listener can be reached from this machine. */
export function addressOf(listener: Server): string {
  const at = listener.address()
  if (at === null || typeof at === 'string') return 'http://127.0.0.1'
  return `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`
}

/** Stops accepting, and resolves when every request in progress is answered. */
export async function closeServer(listener: Server): Promise<void> {
  if (!listener.listening) return
  // A connection whose request is still being answered is not kept afterwards.
  listener.keepAliveTimeout = 1
  const closed = new Promise((resolve) => listener.close(resolve))
  listener.closeIdleConnections()
  await closed
}

// Decides if the local engine accepts a request.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import { ServeError } from './errors.js'

/** Rejects requests that are not from a local or authenticated caller. Throws UNAUTHENTICATED, MISDIRECTED or FOREIGN_ORIGIN. */
export type Access = (server: Server, request: IncomingMessage) => void

/**
 * With a token, only requests that carry it are accepted. The Host header reveals a browser page whose name server points
 * at this address (DNS rebinding); the Origin header reveals a page of another origin. An engine that listens on every
 * address cannot know all its names, so that only the token is checked there.
 */
export function createAccess(host: string, token: string | null): Access {
  const bearer = token === null ? null : digest(`Bearer ${token}`)
  let names: readonly string[] | null = null
  return (server, { headers, url }) => {
    names ??= hostsOf(server, host)
    const everywhere = /^(0\.0\.0\.0|::)$/.test(host)
    const local = names.includes(headers.host?.toLowerCase() ?? '')
    if (!local && !everywhere) throw new ServeError('MISDIRECTED', 'the Host header names another server')
    const { origin } = headers
    const own = everywhere ? `http://${headers.host}` : null
    if (origin !== undefined && origin !== own && !names.some((name) => origin === `http://${name}`))
      throw new ServeError('FOREIGN_ORIGIN', 'requests from pages of other origins are not allowed')
    if (bearer === null || url === '/readyz') return
    if (!timingSafeEqual(digest(headers.authorization ?? ''), bearer))
      throw new ServeError('UNAUTHENTICATED', 'send the token as `Authorization: Bearer …`')
  }
}

function hostsOf(server: Server, host: string): string[] {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return []
  const own = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  const names = [own, host.toLowerCase(), 'localhost', '127.0.0.1', '[::1]']
  return names.flatMap((name) => [`${name}:${bound.port}`, ...(bound.port === 80 ? [name] : [])])
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

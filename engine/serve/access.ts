// Who may ask the local engine.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import { ServeError } from './errors.js'

/** Refuses requests of strangers. Throws UNAUTHENTICATED, MISDIRECTED or FOREIGN_ORIGIN. */
export type Access = (server: Server, request: IncomingMessage) => void

/**
 * With a token only who sends it may ask. A page in a browser can be pointed at this address by its name server, which
 * its Host header gives away; or it can send here without being allowed to read the answer, which its Origin header
 * gives away. Where the engine listens on every address it cannot know its names, and the token alone decides.
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
      throw new ServeError('FOREIGN_ORIGIN', 'pages of other origins may not ask here')
    if (bearer === null || url === '/readyz') return
    if (!timingSafeEqual(digest(headers.authorization ?? ''), bearer))
      throw new ServeError('UNAUTHENTICATED', 'send the token as `Authorization: Bearer …`')
  }
}

function hostsOf(server: Server, host: string): string[] {
  const at = server.address()
  if (at === null || typeof at === 'string') return []
  const own = at.family === 'IPv6' ? `[${at.address}]` : at.address
  const names = [own, host.toLowerCase(), 'localhost', '127.0.0.1', '[::1]']
  return names.flatMap((name) => [`${name}:${at.port}`, ...(at.port === 80 ? [name] : [])])
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

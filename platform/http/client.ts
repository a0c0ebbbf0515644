// The origin of a request: the network address, or the one that a trusted proxy reports.
import { type NextFunction, type Request, type Response, Router } from 'express'
import ipaddr from 'ipaddr.js'
import { PlatformError } from '../errors.js'
import { isLoopbackName } from '../outgoing/targets.js'

/** The network that limits count: an IPv4 address, or the /64 of an IPv6 address, which one customer has. */
export function networkOf({ ip = '' }: Request): string {
  const address = ip.replace(/%.*$/, '')
  if (!ipaddr.isValid(address)) return address
  const known = ipaddr.process(address)
  return known instanceof ipaddr.IPv6 ? `${known.parts.slice(0, 4).join(':')}::/64` : known.toString()
}

/**
 * Rejects requests that name another machine, for a platform that only its own machine reaches: they come from a page whose name
 * server points at this address (DNS rebinding). Any port is accepted, for tunnels. Throws MISDIRECTED.
 */
export function ownHostOnly(): Router {
  return Router().use(({ headers: { host } }: Request, _response: Response, next: NextFunction) => {
    if (host !== undefined && URL.canParse(`http://${host}`) && isLoopbackName(new URL(`http://${host}`).hostname))
      return next()
    const named = host === undefined ? 'the Host header is missing' : `the Host header names \`${host}\``
    throw new PlatformError(
      'MISDIRECTED',
      `${named}, but only this machine reaches this platform: send the request to \`localhost\`; behind a proxy, set SVC_PUBLIC_URL to the address that others use`,
    )
  })
}

/** Rejects forms that a page of another origin sends. Throws FORBIDDEN. */
export function rejectOtherOrigins(public_url: string | null, { headers: { origin, host } }: Request): void {
  const own = public_url === null ? [`http://${host}`, `https://${host}`] : [public_url]
  if (origin !== undefined && !own.includes(origin))
    throw new PlatformError(
      'FORBIDDEN',
      `the origin \`${origin}\` is not this platform: send the form from its own page`,
    )
}

/** True if cookies are limited to HTTPS: always, except over HTTP on the same machine. */
export function isSecure(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

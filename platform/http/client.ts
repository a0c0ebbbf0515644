// Where a request comes from: the network address, or the one that a trusted proxy reports.
import type { Request } from 'express'
import ipaddr from 'ipaddr.js'
import { PlatformError } from '../errors.js'

/** The network that limits count: an IPv4 address, or the /64 of an IPv6 address, which one customer has. */
export function networkOf({ ip = '' }: Request): string {
  const address = ip.replace(/%.*$/, '')
  if (!ipaddr.isValid(address)) return address
  const known = ipaddr.process(address)
  return known instanceof ipaddr.IPv6 ? `${known.parts.slice(0, 4).join(':')}::/64` : known.toString()
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

/** Whether cookies are limited to HTTPS: always, except over HTTP on the same machine. */
export function isSecure(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

// Who sends a request, as far as the network tells: behind proxies that are trusted, what they say.
import type { Request } from 'express'
import ipaddr from 'ipaddr.js'
import { PlatformError } from '../errors.js'

/** The network a request comes from, as limits count: an IPv4 address, or the /64 that one customer has of IPv6. */
export function networkOf({ ip = '' }: Request): string {
  const address = ip.replace(/%.*$/, '')
  if (!ipaddr.isValid(address)) return address
  const known = ipaddr.process(address)
  return known instanceof ipaddr.IPv6 ? `${known.parts.slice(0, 4).join(':')}::/64` : known.toString()
}

/** Nobody else's page may send a form here. Throws FORBIDDEN. */
export function rejectOtherOrigins(public_url: string | null, { headers: { origin, host } }: Request): void {
  const own = public_url === null ? [`http://${host}`, `https://${host}`] : [public_url]
  if (origin !== undefined && !own.includes(origin))
    throw new PlatformError('FORBIDDEN', 'send the form from the page it is on')
}

/** Whether cookies must go over HTTPS only: everywhere but where a person tries it on their own machine. */
export function isSecure(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

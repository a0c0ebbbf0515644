// The allowed targets of outgoing calls (docs/design/platform.md §5): the public internet over HTTPS, and the networks that the
// operator allows.
import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

export interface Targets {
  /** The reason why a URL is not allowed, as far as its text shows; null for an allowed one. */
  readonly problemOf: (url: string) => string | null
  /** The reason why a host name or address is not allowed, as far as its text shows; null for an allowed one. */
  readonly hostProblem: (host: string) => string | null
  /** Resolves names as the system does; fails for a name that resolves to an address that is not allowed. */
  readonly lookup: LookupFunction
}

/**
 * `allowed`: private networks that may be called, or `all`. `on_loopback`: only its own machine can reach this install, which
 * may therefore call that machine, even without TLS.
 */
export function createTargets(allowed: 'all' | readonly string[], on_loopback: boolean): Targets {
  const networks = allowed === 'all' ? [] : allowed.map(networkIn)
  const mayReach = (address: string) => {
    const parsed = parsedAddress(address)
    if (parsed === null) return false
    if (allowed === 'all' || (parsed.range() === 'unicast' && !isSpecial(parsed))) return true
    if (on_loopback && parsed.range() === 'loopback') return true
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  }
  const hostProblem = (host: string) => {
    const plain = host.replace(/^\[|\]$/g, '')
    return isIP(plain) === 0 || mayReach(plain) ? null : notAllowed(plain)
  }
  const problemOf = (text: string) => {
    if (!URL.canParse(text)) return 'the URL is invalid'
    const { protocol, hostname, username, password } = new URL(text)
    if (username !== '' || password !== '') return 'the URL must not contain a user name or password'
    const isPlain = protocol === 'http:'
    if (protocol !== 'https:' && !isPlain) return 'the URL must begin with https://'
    const problem = hostProblem(hostname)
    if (problem !== null) return problem
    return isPlain && allowed !== 'all' && !(on_loopback && isLoopbackName(hostname))
      ? 'the URL must begin with https://'
      : null
  }
  const checked: LookupFunction = (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const rejected = error === null ? found.find(({ address }) => !mayReach(address)) : undefined
      const [first] = found ?? []
      if (error !== null) done(error, '')
      else if (rejected !== undefined) done(new TargetError(notAllowed(rejected.address)), '')
      else if (options.all) done(null, found)
      else done(null, first?.address ?? '', first?.family)
    })
  }
  return { problemOf, hostProblem, lookup: checked }
}

/** A target that is not allowed. */
export class TargetError extends Error {
  readonly code = 'TARGET_REJECTED'
}

function notAllowed(address: string): string {
  return `\`${address}\` is not on the public internet: to allow it, add it to SVC_ALLOW_PRIVATE_TARGETS`
}

function parsedAddress(text: string) {
  try {
    // An IPv4-mapped IPv6 address is checked as the IPv4 address.
    return ipaddr.process(text.replace(/%.*$/, ''))
  } catch {
    return null
  }
}

/** Addresses in public ranges that reach this machine or its cloud host. */
function isSpecial(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv6) return address.match(ipaddr.IPv6.parse('::'), 96)
  return address.toString() === '168.63.129.16'
}

function networkIn(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** True for `localhost` and the loopback addresses, in the spelling that a parsed URL has. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || parsedAddress(hostname.replace(/^\[|\]$/g, ''))?.range() === 'loopback'
}

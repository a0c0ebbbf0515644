// What may be called from here (docs/design/platform.md §5): the open network over HTTPS, and beyond that only what the operator allows.
import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

export interface Targets {
  /** What is wrong with an address that somebody wants called; null when it may be, as far as its text tells. */
  readonly problemOf: (url: string) => string | null
  /** What is wrong with connecting to this host, by its name or number; null when it may be, as far as its text tells. */
  readonly hostProblem: (host: string) => string | null
  /** Finds addresses as the system does, and errs for a name that leads where nothing may be called. */
  readonly lookup: LookupFunction
}

/**
 * `allowed`: networks that may be called although they are private, or `all`. `on_loopback`: this install is one that only its
 * own machine reaches, so that it may call that machine, also without TLS.
 */
export function createTargets(allowed: 'all' | readonly string[], on_loopback: boolean): Targets {
  const networks = allowed === 'all' ? [] : allowed.map(networkIn)
  const mayReach = (address: string) => {
    const parsed = parsedAddress(address)
    if (parsed === null) return false
    if (allowed === 'all' || (parsed.range() === 'unicast' && !isOddlyOpen(parsed))) return true
    if (on_loopback && parsed.range() === 'loopback') return true
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  }
  const hostProblem = (host: string) => {
    const plain = host.replace(/^\[|\]$/g, '')
    return isIP(plain) === 0 || mayReach(plain) ? null : refusal(plain)
  }
  const problemOf = (text: string) => {
    if (!URL.canParse(text)) return 'this is no address'
    const { protocol, hostname, username, password } = new URL(text)
    if (username !== '' || password !== '') return 'an address must not hold a name or password'
    const isPlain = protocol === 'http:'
    if (protocol !== 'https:' && !isPlain) return 'only https:// is called'
    const problem = hostProblem(hostname)
    if (problem !== null) return problem
    return isPlain && allowed !== 'all' && !(on_loopback && isLoopbackName(hostname)) ? 'only https:// is called' : null
  }
  const checked: LookupFunction = (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const refused = error === null ? found.find(({ address }) => !mayReach(address)) : undefined
      const [first] = found ?? []
      if (error !== null) done(error, '')
      else if (refused !== undefined) done(new TargetError(refusal(refused.address)), '')
      else if (options.all) done(null, found)
      else done(null, first?.address ?? '', first?.family)
    })
  }
  return { problemOf, hostProblem, lookup: checked }
}

/** A target that must not be called. */
export class TargetError extends Error {
  readonly code = 'TARGET_REJECTED'
}

function refusal(address: string): string {
  return `it leads to ${address}, which is not on the open network: SVC_ALLOW_PRIVATE_TARGETS names what may be called besides`
}

function parsedAddress(text: string) {
  try {
    // An IPv4 address in the clothes of IPv6 is judged as what it is.
    return ipaddr.process(text.replace(/%.*$/, ''))
  } catch {
    return null
  }
}

/** Not marked as anybody's own, and yet it leads to this machine or to the one it runs on. */
function isOddlyOpen(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv6) return address.match(ipaddr.IPv6.parse('::'), 96)
  return address.toString() === '168.63.129.16'
}

function networkIn(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || parsedAddress(hostname.replace(/^\[|\]$/g, ''))?.range() === 'loopback'
}

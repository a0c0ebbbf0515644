// Calls to this machine: allowed only while nothing beyond it can reach the platform, whatever the spelling of the address.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLoopback, readConfig } from '../../../platform/config.js'
import { checkedAddress } from '../../../platform/git/source/git-address.js'
import { openOutside } from '../../../platform/outside.js'
import { loopbackSpellings } from '../../support/http/loopback-spellings.js'

let server: Server
let port: number
let calls = 0
beforeAll(async () => {
  server = createServer((_request, response) => {
    calls += 1
    response.end('secret')
  })
  await new Promise<void>((resolve) => server.listen(0, '::', () => resolve()))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const reached: readonly (readonly [string, Record<string, string>])[] = [
  ['a public URL, as behind a proxy on this machine', { SVC_PUBLIC_URL: 'https://svc.example.org' }],
  ['a public URL without TLS', { SVC_PUBLIC_URL: 'http://192.168.1.7:8080' }],
  ['a public URL that only begins like loopback', { SVC_PUBLIC_URL: 'http://localhost.example.org' }],
  ['a public URL on an address like loopback', { SVC_PUBLIC_URL: 'http://127.0.0.1.example.org' }],
  ['trusted proxies', { SVC_TRUSTED_PROXIES: '127.0.0.1' }],
  ['trusted proxies and a public URL on loopback', { SVC_TRUSTED_PROXIES: '::1', SVC_PUBLIC_URL: 'http://[::1]' }],
  ['an address of every interface', { SVC_HOST: '0.0.0.0' }],
  ['an address of every interface in IPv6', { SVC_HOST: '::' }],
]

const unreached: readonly (readonly [string, Record<string, string>])[] = [
  ['the defaults', {}],
  ['a public URL on loopback', { SVC_PUBLIC_URL: 'http://LOCALHOST:8080/' }],
  ['a public URL on another address of loopback', { SVC_PUBLIC_URL: 'https://127.0.0.2' }],
  ['loopback in IPv6', { SVC_HOST: '::1', SVC_PUBLIC_URL: 'http://[::1]:8080' }],
]

function outsideOf(env: Record<string, string>) {
  const { value, errors } = readConfig(env)
  expect(errors).toEqual([])
  const { outgoing } = openOutside(value, () => undefined)
  return { outgoing, rules: { targets: outgoing.targets, file_roots: [] }, config: value }
}

describe('a platform that others can reach', () => {
  it('has at least 100 spellings of this machine to try', () => {
    expect(loopbackSpellings.length).toBeGreaterThanOrEqual(100)
  })

  it.each(reached)('calls no spelling of this machine with %s', async (_, env) => {
    const { outgoing, rules, config } = outsideOf(env)
    expect(isLoopback(config)).toBe(false)
    const before = calls
    const urls = loopbackSpellings.flatMap((host) => ['http', 'https'].map((scheme) => `${scheme}://${host}:${port}/`))
    const refused = () => 'refused'
    const answers = urls.map(async (url) => [
      url,
      await outgoing.post(url, '{}').then(({ text }) => text, refused),
      await checkedAddress(`${url}x.git`, rules).then(({ settings }) => JSON.stringify(settings), refused),
    ])
    expect(await Promise.all(answers)).toEqual(urls.map((url) => [url, 'refused', 'refused']))
    expect(calls).toBe(before)
    await outgoing.close()
  })

  it.each(reached)('calls no name that resolves to this machine with %s', async (_, env) => {
    const { outgoing, rules } = outsideOf(env)
    for (const address of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '0.0.0.0', '::']) {
      const { lookup } = rules.targets
      // The answer of a name server, checked as the addresses of the system are.
      const targets = {
        ...rules.targets,
        lookup: ((_name, options, done) => lookup(address, options, done)) as typeof lookup,
      }
      await expect(checkedAddress('https://receiver.example/x.git', { ...rules, targets })).rejects.toMatchObject({
        code: 'rejected',
      })
    }
    await outgoing.close()
  })
})

describe('a platform that only its own machine can reach', () => {
  it.each(unreached)('calls this machine with %s', async (_, env) => {
    const { outgoing, rules, config } = outsideOf(env)
    expect(isLoopback(config)).toBe(true)
    for (const host of ['127.0.0.1', '0x7f.1', '[::1]', 'localhost', 'LOCALHOST']) {
      const url = `http://${host}:${port}/`
      expect([url, await outgoing.post(url, '{}')]).toEqual([url, { status: 200, text: 'secret' }])
      expect(await checkedAddress(`${url}x.git`, rules)).toMatchObject({ protocol: 'http' })
    }
    await outgoing.close()
  })
})

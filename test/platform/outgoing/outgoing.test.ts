// Outgoing calls: they do not reach private networks, whatever the spelling of an address and the resolution of a name.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOutgoing } from '../../../platform/outgoing/outgoing.js'
import { createTargets } from '../../../platform/outgoing/targets.js'

let server: Server
let port: number
let calls = 0
beforeAll(async () => {
  server = createServer((request, response) => {
    calls += 1
    if (request.url === '/redirect') response.writeHead(302, { location: `http://127.0.0.1:${port}/secret` }).end()
    else if (request.url === '/large') response.end('x'.repeat(2 * 1024 * 1024))
    else if (request.url === '/slow') return
    else if (request.url === '/endless') drip(response)
    else response.end('secret')
  })
  await new Promise<void>((resolve) => server.listen(0, '::', () => resolve()))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** Sends a byte now and then, for ever. */
function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write('x'), 20)
  response.on('close', () => clearInterval(timer))
}

const strict = createTargets([], false)

describe('an address', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '10.0.0.1',
    '172.16.5.4',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[fc00::1]',
    '198.18.0.1',
    '192.0.2.1',
    '224.0.0.1',
    '[ff02::1]',
    '[::7f00:1]',
    '[::a9fe:a9fe]',
    '[::1.2.3.4]',
    '168.63.129.16',
    '255.255.255.255',
    '240.0.0.1',
    '[100::1]',
    '[2001:db8::1]',
    '①②⑦.⓪.⓪.①',
  ])('of the private host %s is rejected with every scheme', (host) => {
    for (const url of [`https://${host}/`, `https://${host}:8443/x?y`, `http://${host}/`])
      expect([url, strict.problemOf(url)]).toEqual([url, expect.stringMatching(/not on the public internet/)])
  })

  it.each([
    ['http://example.org/', 'the URL must begin with https://'],
    ['ftp://example.org/', 'the URL must begin with https://'],
    ['file:///etc/passwd', 'the URL must begin with https://'],
    ['https://user:secret@example.org/', 'must not contain a user name or password'],
    ['https://', 'the URL is invalid'],
    ['example.org', 'the URL is invalid'],
    ['', 'the URL is invalid'],
  ])('%s is rejected: %s', (url, problem) => {
    expect(strict.problemOf(url)).toContain(problem)
  })

  it('on the public internet is allowed', () => {
    for (const url of ['https://example.org/hook', 'https://93.184.216.34/', 'https://[2606:2800:220:1::1]:8443/'])
      expect([url, strict.problemOf(url)]).toEqual([url, null])
  })

  it('of a private network is allowed where the operator allows it', () => {
    const some = createTargets(['10.1.0.0/16', 'fd00::/8', '192.168.7.7'], false)
    const answers = [
      'https://10.1.2.3/',
      'https://10.2.0.1/',
      'https://[fd12::1]/',
      'https://192.168.7.7/',
      'https://192.168.7.8/',
    ]
    expect(answers.map((url) => some.problemOf(url) === null)).toEqual([true, false, true, true, false])
    expect(some.problemOf('http://10.1.2.3/')).toBe('the URL must begin with https://')
    expect(createTargets('all', false).problemOf('http://10.1.2.3/')).toBeNull()
    const own = createTargets([], true)
    expect(['http://127.0.0.1:1/', 'http://localhost/', 'http://[::1]/'].map(own.problemOf)).toEqual([null, null, null])
    expect(own.problemOf('http://10.0.0.1/')).toMatch(/public internet/)
  })
})

describe('a call', () => {
  it('is rejected after name resolution, before anything is sent', async () => {
    // The text is an ordinary name; only its resolution shows that it is private.
    expect(strict.problemOf(`https://localhost:${port}/`)).toBeNull()
    const outgoing = createOutgoing(strict)
    await expect(outgoing.post(`https://localhost:${port}/`, '{}')).rejects.toThrow(/not on the public internet/)
    const blind = createOutgoing({ ...strict, problemOf: () => null })
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', '2130706433'])
      await expect(blind.post(`http://${host}:${port}/`, '{}')).rejects.toThrow(/not on the public internet/)
    expect(calls).toBe(0)
    await outgoing.close()
    await blind.close()
  })

  it('is rejected when its name resolves to another address than before', async () => {
    const before = calls
    let address = '93.184.216.34'
    const changing: typeof strict = {
      ...strict,
      lookup: (_name, options, done) => strict.lookup(address, options, done),
    }
    expect(changing.problemOf('https://receiver.example/')).toBeNull()
    address = '127.0.0.1'
    const outgoing = createOutgoing(changing)
    await expect(outgoing.post(`https://receiver.example:${port}/`, '{}')).rejects.toThrow(/not on the public internet/)
    expect(calls).toBe(before)
    await outgoing.close()
  })

  it('follows no redirect, and is limited in size and time', async () => {
    const outgoing = createOutgoing(createTargets([], true), 500)
    const at = (path: string) => outgoing.post(`http://127.0.0.1:${port}${path}`, '{}')
    expect(await at('/')).toEqual({ status: 200, text: 'secret' })
    expect(await at('/redirect')).toEqual({ status: 302, text: '' })
    await expect(at('/large')).rejects.toThrow('more than 1 MiB')
    await expect(at('/slow')).rejects.toThrow('no response within 0.5 s')
    await expect(at('/endless')).rejects.toThrow('no response within 0.5 s')
    expect(calls).toBe(5)
    const get = { method: 'GET', headers: { 'x-test': '1' } } as const
    const got = await outgoing.send(`http://127.0.0.1:${port}/redirect`, get)
    expect(got).toMatchObject({ status: 302, headers: { location: expect.stringContaining('/secret') } })
    await expect(outgoing.send(`http://127.0.0.1:${port}/`, get, 3)).rejects.toMatchObject({
      code: 'RESPONSE_TOO_LARGE',
    })
    await expect(outgoing.send('http://10.0.0.1/', get)).rejects.toMatchObject({ code: 'TARGET_REJECTED' })
    await expect(outgoing.post('http://127.0.0.1:1/', '{}')).rejects.toThrow('no response: ECONNREFUSED')
    await outgoing.close()
  })
})

// Links are secrets: beyond this machine no mail goes out in the clear, or to whoever cannot prove to be the mail server.
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { createMailer } from '../../../platform/mail/mail.js'

const beyond = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address
if (beyond === undefined) console.warn('mail beyond this machine: skipped, there is no network')

const mail = { to: 'anna@example.org', name: 'sign_in', values: { link: 'https://svc.example.org/secret' } } as const

describe.skipIf(beyond === undefined)('a mail to a server beyond this machine', () => {
  let server: SMTPServer
  let taken: string[] = []
  afterEach(() => new Promise<void>((resolve) => server.close(() => resolve())))

  /** Sends to a server of these options; what became of it. */
  async function sent(options: SMTPServerOptions, address: (port: number) => string): Promise<string> {
    taken = []
    server = new SMTPServer({
      ...{ authOptional: true, logger: false, ...options },
      onData: (stream, _session, done) => {
        stream.on('data', (chunk: Buffer) => taken.push(chunk.toString()))
        stream.on('end', () => done())
      },
    })
    server.on('error', () => undefined)
    await new Promise<void>((resolve) => server.listen(0, beyond, () => resolve()))
    const smtp_url = address((server.server.address() as AddressInfo).port)
    const mailer = createMailer({ smtp_url, from: 'svc@localhost', print: null, remark: () => undefined })
    return mailer.send(mail).then(
      () => 'sent',
      (error: { code: string; cause?: Error }) => `${error.code}: ${error.cause?.message}`,
    )
  }

  it('waits for a server that offers STARTTLS', async () => {
    const said = await sent({ disabledCommands: ['STARTTLS'] }, (port) => `smtp://${beyond}:${port}`)
    expect(said).toMatch(/^UNAVAILABLE: .*STARTTLS/)
    expect(taken).toEqual([])
  })

  it('goes to nobody who shows a certificate of their own making', async () => {
    expect(await sent({}, (port) => `smtp://${beyond}:${port}`)).toMatch(/^UNAVAILABLE: .*certificate/)
    expect(taken).toEqual([])
  })

  it('… over smtps:// neither', async () => {
    expect(await sent({ secure: true }, (port) => `smtps://${beyond}:${port}`)).toMatch(/^UNAVAILABLE: .*certificate/)
    expect(taken).toEqual([])
  })

  it('goes out in the clear where the operator says so', async () => {
    const said = await sent({ disabledCommands: ['STARTTLS'] }, (port) => `smtp://${beyond}:${port}?ignoreTLS=true`)
    expect(said).toBe('sent')
    expect(taken.join('')).toContain('https://svc.example.org/secret')
  })
})

// Mails contain secret links: they leave this machine only encrypted, and only to an authenticated mail server.
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { createMailer } from '../../../platform/mail/mail.js'

const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address
if (address === undefined) console.warn('mail to another machine: skipped, there is no network')

const mail = { to: 'anna@example.org', name: 'sign_in', values: { link: 'https://svc.example.org/secret' } } as const

describe.skipIf(address === undefined)('a mail to a server on another machine', () => {
  let server: SMTPServer
  let taken: string[] = []
  afterEach(() => new Promise<void>((resolve) => server.close(() => resolve())))

  /** Sends to a server with these options; returns `sent` or the error. */
  async function sendTo(options: SMTPServerOptions, url: (port: number) => string): Promise<string> {
    taken = []
    server = new SMTPServer({
      authOptional: true,
      logger: false,
      ...options,
      onData: (stream, _session, done) => {
        stream.on('data', (chunk: Buffer) => taken.push(chunk.toString()))
        stream.on('end', () => done())
      },
    })
    server.on('error', () => undefined)
    await new Promise<void>((resolve) => server.listen(0, address, () => resolve()))
    const smtp_url = url((server.server.address() as AddressInfo).port)
    const mailer = createMailer({ smtp_url, from: 'svc@localhost', print: null, remark: () => undefined })
    return mailer.send(mail).then(
      () => 'sent',
      (error: { code: string; cause?: Error }) => `${error.code}: ${error.cause?.message}`,
    )
  }

  it('is not sent without STARTTLS', async () => {
    const result = await sendTo({ disabledCommands: ['STARTTLS'] }, (port) => `smtp://${address}:${port}`)
    expect(result).toMatch(/^UNAVAILABLE: .*STARTTLS/)
    expect(taken).toEqual([])
  })

  it('is not sent over STARTTLS to a server with a self-signed certificate', async () => {
    expect(await sendTo({}, (port) => `smtp://${address}:${port}`)).toMatch(/^UNAVAILABLE: .*certificate/)
    expect(taken).toEqual([])
  })

  it('is not sent over smtps:// to a server with a self-signed certificate', async () => {
    expect(await sendTo({ secure: true }, (port) => `smtps://${address}:${port}`)).toMatch(
      /^UNAVAILABLE: .*certificate/,
    )
    expect(taken).toEqual([])
  })

  it('is sent unencrypted where the operator allows it', async () => {
    const result = await sendTo(
      { disabledCommands: ['STARTTLS'] },
      (port) => `smtp://${address}:${port}?ignoreTLS=true`,
    )
    expect(result).toBe('sent')
    expect(taken.join('')).toContain('https://svc.example.org/secret')
  })
})

// A real SMTP server on this machine with a mailbox for every address except `rejected@…`.
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { vi } from 'vitest'
import { soon } from '../server/soon.js'

export interface MailServer {
  readonly url: string
  /** The secret of the newest link to the address, which must be one that was not returned before. */
  readonly tokenFor: (address: string) => Promise<string>
  /** The raw mails to the address. */
  readonly mailsTo: (address: string) => readonly string[]
  readonly close: () => Promise<void>
}

export async function startMailServer(): Promise<MailServer> {
  const mails: { to: string; text: string }[] = []
  const seen = new Set<string>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('rejected@') ? Object.assign(new Error('no such mailbox'), { responseCode: 550 }) : null),
    onData: (stream, session, done) => {
      let text = ''
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      stream.on('end', () => {
        for (const { address } of session.envelope.rcptTo) mails.push({ to: address.toLowerCase(), text })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.server.address() as AddressInfo
  const mailsTo = (address: string) =>
    mails.filter(({ to }) => to === address.trim().toLowerCase()).map(({ text }) => text)
  return {
    url: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
    mailsTo,
    tokenFor: (address) =>
      vi.waitFor(() => {
        // Quoted-printable breaks long lines with an equals sign.
        const text =
          mailsTo(address)
            .at(-1)
            ?.replaceAll(/=\r?\n/g, '')
            .replaceAll('=3D', '=') ?? ''
        const token = /[?]token=([A-Za-z0-9_-]{43})/.exec(text)?.[1] ?? ''
        if (token === '' || seen.has(token)) throw new Error(`no new link for ${address}`)
        seen.add(token)
        return token
      }, soon),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

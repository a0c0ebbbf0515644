// The only module that sends mail. Without a mail server it prints mails, on installs that only their own machine can reach.
import Handlebars from 'handlebars'
import { createTransport } from 'nodemailer'
import { PlatformError } from '../errors.js'
import { type MailName, templates } from './templates.js'

export interface Mail {
  readonly to: string
  readonly name: MailName
  /** The values of the template. */
  readonly values: Readonly<Record<string, string | readonly string[]>>
}

/** One mail to several addresses, which see each other. Equal ids are the same mail, sent again. */
interface GroupMail extends Omit<Mail, 'to'> {
  readonly to: readonly string[]
  readonly id: string
}

export interface Mailer {
  /** Rejects with UNAVAILABLE when the mail cannot be sent; a rejected address is logged, not reported to the caller. */
  readonly send: (mail: Mail) => Promise<void>
  /**
   * Resolves with the addresses that the mail server rejects while it accepts others. Rejects with MailRejected when it accepts
   * none, and with UNAVAILABLE when there is no mail server, or it does not answer.
   */
  readonly sendToGroup: (mail: GroupMail) => Promise<readonly string[]>
}

/** The mail server rejects all addresses of a mail. */
export class MailRejected extends Error {
  readonly code = 'MAIL_REJECTED'
}

interface MailParts {
  /** `smtp://…` or `smtps://…`; null prints the mails. */
  readonly smtp_url: string | null
  readonly from: string
  /** Null where others might read the output. */
  readonly print: ((text: string) => void) | null
  /** Logs a warning for the operator. */
  readonly remark: (message: string) => void
}

const timeoutMs = 10_000
const noServer =
  'this platform cannot send mail: ask the operator for a link (svc-platform admin sign-in-link EMAIL), or to set SVC_SMTP_URL'

export function createMailer({ smtp_url, from, print, remark }: MailParts): Mailer {
  if (smtp_url === null) {
    return {
      send: async (mail) => {
        if (print === null) throw new PlatformError('UNAVAILABLE', noServer)
        const { subject, text } = rendered(mail)
        const printed = `mail to ${mail.to}: ${subject}\n\n${text}\n`
        print(printed.replaceAll(/[^\P{Cc}\n]|\p{Bidi_Control}/gu, '�'))
      },
      sendToGroup: async () => {
        throw new PlatformError('UNAVAILABLE', 'there is no mail server: set SVC_SMTP_URL')
      },
    }
  }
  const transport = createTransport(
    {
      ...serverIn(smtp_url),
      disableFileAccess: true,
      disableUrlAccess: true,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
    },
    { from },
  )
  return {
    send: async (mail) => {
      try {
        // An object: a text could contain a second address.
        await transport.sendMail({ to: { name: '', address: mail.to }, ...rendered(mail) })
      } catch (error) {
        if (isRejectedAddress(error)) return remark('the mail server rejects the address of a mail')
        throw new PlatformError('UNAVAILABLE', 'the mail could not be sent: try again later', { cause: error })
      }
    },
    sendToGroup: async (mail) => {
      const to = mail.to.map((address) => ({ name: '', address }))
      const messageId = `<${mail.id}@${idDomain}>`
      try {
        const { rejected } = await transport.sendMail({ to, messageId, ...rendered(mail) })
        return rejected.map((one: string | { address: string }) => (typeof one === 'string' ? one : one.address))
      } catch (error) {
        if (isRejectedAddress(error))
          throw new MailRejected('the mail server rejects all addresses: correct `config.to`')
        const { code = 'no reason given' } = error as { code?: string }
        const message = `the mail server does not take mails (${code}): check SVC_SMTP_URL, and whether it runs`
        throw new PlatformError('UNAVAILABLE', message, { cause: error })
      }
    },
  }
}

/** The right side of message ids, which needs no host. */
const idDomain = 'svc.invalid'

/** The options of a mail server URL. Mails contain secret links, so TLS is required unless the URL has `?ignoreTLS=true`. */
function serverIn(text: string) {
  const { protocol, hostname, port, username, password, searchParams } = new URL(text)
  const secure = protocol === 'smtps:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const isLoopback = /^(localhost|127\.[\d.]+|::1)$/.test(host)
  const ignoreTLS = searchParams.get('ignoreTLS') === 'true'
  const auth =
    username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }
  return {
    host,
    secure,
    ignoreTLS,
    requireTLS: !(secure || isLoopback || ignoreTLS),
    ...auth,
    ...(port !== '' && { port: Number(port) }),
  }
}

/** A permanent rejection of the address (RFC 5321 §4.2.1). Callers must not learn which addresses a mail server knows. */
function isRejectedAddress(error: unknown): boolean {
  const { code, command, responseCode = 500 } = error as { code?: string; command?: string; responseCode?: number }
  return code === 'EENVELOPE' && command !== 'MAIL FROM' && responseCode >= 500
}

/** A mail from its templates: values are escaped in HTML and cannot break lines in a subject. */
function rendered({ name, values }: Pick<Mail, 'name' | 'values'>): { subject: string; text: string; html: string } {
  const { subject, text, html } = templates[name]
  const onLine = (text: string) => text.replaceAll(/\s+/g, ' ')
  const flat = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, typeof value === 'string' ? onLine(value) : value.map(onLine)]),
  )
  return {
    subject: Handlebars.compile(subject, { strict: true, noEscape: true })(flat),
    text: Handlebars.compile(text, { strict: true, noEscape: true })(flat),
    html: Handlebars.compile(html, { strict: true })(flat),
  }
}

// Mail: the one door to it. Without a mail server a message is printed, which only an install that nobody else reaches may do.
import Handlebars from 'handlebars'
import { createTransport } from 'nodemailer'
import { PlatformError } from '../errors.js'
import { type MailName, templates } from './templates.js'

export interface Mail {
  readonly to: string
  readonly name: MailName
  /** What the template names. */
  readonly values: Readonly<Record<string, string>>
}

export interface Mailer {
  /** Rejects with UNAVAILABLE when it cannot be handed over; that the server wants none of this address is not told. */
  readonly send: (mail: Mail) => Promise<void>
}

export interface MailParts {
  /** `smtp://…` or `smtps://…`; null prints instead. */
  readonly smtp_url: string | null
  readonly from: string
  /** Null where strangers might read what is printed. */
  readonly print: ((text: string) => void) | null
  /** Told what an operator may want to know. */
  readonly remark: (message: string) => void
}

const patience = 10_000
const noServer =
  'no mail is sent here: ask the operator for a link (svc-platform admin sign-in-link EMAIL), or to set SVC_SMTP_URL'

export function createMailer({ smtp_url, from, print, remark }: MailParts): Mailer {
  if (smtp_url === null) {
    return {
      send: async (mail) => {
        if (print === null) throw new PlatformError('UNAVAILABLE', noServer)
        const { subject, text } = written(mail)
        const said = `mail to ${mail.to}: ${subject}\n\n${text}\n`
        print(said.replaceAll(/[^\P{Cc}\n]|\p{Bidi_Control}/gu, '�'))
      },
    }
  }
  const transport = createTransport(
    {
      ...serverIn(smtp_url),
      ...{ disableFileAccess: true, disableUrlAccess: true },
      ...{ connectionTimeout: patience, greetingTimeout: patience, socketTimeout: patience },
    },
    { from },
  )
  return {
    send: async (mail) => {
      try {
        // An object, not a text: an address cannot smuggle in another one.
        await transport.sendMail({ to: { name: '', address: mail.to }, ...written(mail) })
      } catch (error) {
        if (isRefused(error)) return remark('the mail server refuses the address a mail is for')
        throw new PlatformError('UNAVAILABLE', 'the mail could not be sent: try again later', { cause: error })
      }
    },
  }
}

/** What an address says of a mail server. Links are secrets: they travel encrypted unless the address says `?ignoreTLS=true`. */
function serverIn(text: string) {
  const { protocol, hostname, port, username, password, searchParams } = new URL(text)
  const secure = protocol === 'smtps:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const isHere = /^(localhost|127\.[\d.]+|::1)$/.test(host)
  const ignoreTLS = searchParams.get('ignoreTLS') === 'true'
  const auth =
    username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }
  return {
    ...{ host, secure, ignoreTLS, requireTLS: !(secure || isHere || ignoreTLS), ...auth },
    ...(port !== '' && { port: Number(port) }),
  }
}

/** Refused for good (RFC 5321 §4.2.1): what a mail server knows of an address is nobody's business. */
function isRefused(error: unknown): boolean {
  const { code, command, responseCode = 500 } = error as { code?: string; command?: string; responseCode?: number }
  return code === 'EENVELOPE' && command !== 'MAIL FROM' && responseCode >= 500
}

/** A message as its templates have it: values are escaped in HTML and cannot break lines in a subject. */
export function written({ name, values }: Mail): { subject: string; text: string; html: string } {
  const { subject, text, html } = templates[name]
  const flat = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value.replaceAll(/\s+/g, ' ')]))
  return {
    subject: Handlebars.compile(subject, { strict: true, noEscape: true })(flat),
    text: Handlebars.compile(text, { strict: true, noEscape: true })(flat),
    html: Handlebars.compile(html, { strict: true })(flat),
  }
}

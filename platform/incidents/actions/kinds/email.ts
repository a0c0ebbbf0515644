// Mails to people.
import { parseJson } from '@svc/proof'
import { type FieldError, invalid } from '../../../errors.js'
import { parseAddress } from '../../../mail/address.js'
import { listOf } from '../commands/read-config.js'
import type { ActionKindDefinition } from './kind.js'
import { type DeliveryBody, summaryOf } from './summary.js'

export const email: ActionKindDefinition = {
  read: ({ sends_mail }, { url, to }) => {
    if (!sends_mail)
      throw invalid([
        { path: 'kind', message: 'email needs a mail server, and this platform has none: set SVC_SMTP_URL' },
      ])
    const given = to === undefined ? [] : listOf(to)
    const addresses = given.map((text) => parseAddress(text))
    const wrong = given.filter((_, index) => addresses[index] === null)
    const errors: FieldError[] = [
      ...(given.length === 0
        ? [{ path: 'config.to', message: 'is missing: set the addresses that receive the mails' }]
        : []),
      ...wrong.map((text) => ({
        path: 'config.to',
        message: `must be addresses such as mia@example.org, found \`${text}\``,
      })),
      ...(url === undefined ? [] : [{ path: 'config.url', message: 'is not for the kind email: remove it' }]),
    ]
    if (errors.length > 0) throw invalid(errors)
    return { config: { to: listOf(addresses.flatMap((address) => address ?? [])) }, target: null }
  },
  newSecret: null,
  send: async ({ mailer, public_url }, _org_id, { name: action, config: { to = [] } }, { id, body }) => {
    const { title, lines, link } = summaryOf(parseJson(body) as DeliveryBody, public_url)
    const values = { title, lines, link: link ?? '', action }
    const rejected = await within(maxMailMs, mailer.sendToGroup({ to, id, name: 'action', values }))
    const text = rejected.length === 0 ? null : `the mail server rejects ${rejected.join(', ')}`
    return { attempt: { kind: 'answered', status: 250, retry_after: null }, text }
  },
}

/** Longer than any attempt should take: mail servers can be slow. */
const maxMailMs = 15_000

/** Rejects when the work takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the mail server did not take the mail within ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

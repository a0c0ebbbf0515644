// The conditions and the configuration of a request, in the spellings that clients use.
import type { Action, ActionRequest } from '@svc/schemas'
import { type FieldError, invalid } from '../../../errors.js'
import { parseAddress } from '../../../mail/address.js'
import { shortAddress } from '../kinds/slack.js'
import type { ActionParts } from '../parts.js'

type Config = ActionRequest['config']

export interface ReadConfig {
  /** As it is shown. */
  readonly config: Action['config']
  /** The address of the receiver, which is a secret; null for mail. */
  readonly target: string | null
}

/** A single value as a list. */
export function listOf<T extends string | number>(given: T | readonly T[]): T[] {
  return [...new Set(typeof given === 'object' ? given : [given])]
}

/** A list, or null for all. */
export function listOrAll<T extends string | number>(given: T | readonly T[] | null | undefined): T[] | null {
  return given == null ? null : listOf(given)
}

/** Throws INVALID for an address that must not be called, and for mail without a mail server. */
export function readConfig(parts: ActionParts, kind: Action['kind'], { url, to }: Config): ReadConfig {
  if (kind === 'email') return readMail(parts, url, to)
  const errors: FieldError[] = []
  const problem =
    url === undefined ? `is missing: set the address that receives the ${kind} requests` : problemOf(parts, url)
  if (problem !== null) errors.push({ path: 'config.url', message: problem })
  if (to !== undefined)
    errors.push({ path: 'config.to', message: `is only for the kind email: remove it, found kind ${kind}` })
  if (errors.length > 0 || url === undefined) throw invalid(errors)
  return { config: { url: kind === 'slack' ? shortAddress(url) : withoutSecrets(url) }, target: url }
}

function problemOf({ outgoing }: ActionParts, url: string): string | null {
  const problem = outgoing.targets.problemOf(url)
  return problem === null ? null : `must not be called: ${problem}`
}

/** A query often holds a token, and so does a long part of a path. */
export function withoutSecrets(url: string): string {
  const { origin, pathname, search } = new URL(url)
  const path = pathname.replaceAll(/[^/]{12,}(?=[^/]{4})/g, '…')
  return `${origin}${path}${search === '' ? '' : '?…'}`
}

/** The configuration in an event, which is kept for ever: of an address only where it leads. */
export function configInEvent(config: Action['config']): Action['config'] {
  return config.url === undefined ? config : { url: new URL(config.url).origin }
}

function readMail({ sends_mail }: ActionParts, url: string | undefined, to: Config['to']): ReadConfig {
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
}

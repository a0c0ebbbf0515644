// The pages of a platform as a browser without scripts reads and submits them.

import { discard, startPlatform, type TestPlatform } from '../server/platform.js'
import { type MailServer, startMailServer } from './mail.js'
import { browserOf, csrfOf, join, signedIn } from './people.js'

export interface Page {
  readonly status: number
  readonly location: string | null
  readonly headers: Headers
  readonly text: string
}

export type Role = 'owner' | 'admin' | 'member' | 'auditor' | 'stranger'

export interface Team {
  readonly platform: TestPlatform
  readonly mails: MailServer
  readonly org_id: string
  /** The ids of the people. */
  readonly ids: Readonly<Record<Role, string>>
  /** The cookies of their browsers. */
  readonly cookies: Readonly<Record<Role, string>>
  readonly look: (path: string, as?: Role) => Promise<Page>
  /** Submits a form with fields; a list is a repeated field. */
  readonly press: (path: string, fields: Fields, as?: Role) => Promise<Page>
  readonly close: () => Promise<void>
}

type Fields = Readonly<Record<string, string | readonly string[]>>

const roles = ['admin', 'member', 'auditor'] as const

/** A platform with a shared workspace: a person of each role in it, and a stranger with a workspace of their own. */
export async function startTeam(env: Readonly<Record<string, string>> = {}): Promise<Team> {
  const mails = await startMailServer()
  const limits = { SVC_RATE_LIMIT_ADDRESS: '0', SVC_RATE_LIMIT_MAILBOX: '0' }
  const owned = { SVC_SMTP_URL: mails.url, SVC_OWNER_EMAIL: addressOf('owner') }
  const platform = await startPlatform({ env: { SVC_CHECKPOINT_SECONDS: '0', ...limits, ...owned, ...env } })
  const owner = await signedIn(platform, mails, addressOf('owner'))
  const { org_id } = owner
  await owner.call('POST', `/auth/workspaces/${org_id}/promote`, { name: 'Acme' })
  const ids: Record<string, string> = { owner: owner.id }
  const cookies: Record<string, string> = { owner: await browserOf(platform, mails, addressOf('owner')) }
  for (const role of [...roles, 'stranger'] as const) {
    const guest = await signedIn(platform, mails, addressOf(role))
    if (role !== 'stranger') await join(owner, guest, org_id, role)
    ids[role] = guest.id
    cookies[role] = await browserOf(platform, mails, addressOf(role))
  }
  const ask = async (path: string, cookie: string, init: RequestInit = {}): Promise<Page> => {
    const headers = { accept: 'text/html', cookie }
    const answer = await fetch(platform.url + path, { ...init, headers, redirect: 'manual' })
    const { status, headers: got } = answer
    return { status, location: got.get('location'), headers: got, text: await answer.text() }
  }
  return {
    platform,
    mails,
    org_id,
    ids: ids as Team['ids'],
    cookies: cookies as Team['cookies'],
    look: (path, as = 'owner') => ask(path, cookies[as] ?? ''),
    press: (path, fields, as = 'owner') => {
      const cookie = cookies[as] ?? ''
      const pairs = Object.entries({ csrf: csrfOf(cookie), ...fields }).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      )
      return ask(path, cookie, { method: 'POST', body: new URLSearchParams(pairs) })
    },
    close: async () => {
      await discard(platform)
      await mails.close()
    },
  }
}

/** The mail address of the person with this role. */
export function addressOf(role: Role): string {
  return `${role}@example.org`
}

/** Text that would run, or reorder what is around it, in a page that shows it as it is. */
export const hostile = `</title><script>alert(1)</script><img src=x onerror="alert(2)">{{7*7}}' "`

/** The script and image elements of a page that the page itself does not have. */
export function injectedIn(page: string): readonly string[] {
  return (
    page.match(/<(script(?! src="\/assets\/)|img(?! src="\/chart\.svg"))\b|onerror="|href="(?:javascript|https?):/gi) ??
    []
  )
}

/** The addresses of the links of a page. */
export function hrefsIn(page: string): string[] {
  return [...page.matchAll(/href="([^"]+)"/g)].map(([, href = '']) =>
    href.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&'),
  )
}

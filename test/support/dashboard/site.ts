// A platform with a Git host, a mailbox and a filled workspace, and the browsers of people who look at its pages.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { workspacePages } from '../../../platform/dashboard/pages.js'
import { type ManifestsInGit, openManifestsInGit } from '../git/manifests-in-git.js'
import { type MailServer, startMailServer } from '../people/mail.js'
import { browserOf, join, type SignedIn, signedIn } from '../people/people.js'
import type { Start } from '../server/platform.js'

/** Values of the parameters of pages, by the path of the page up to the parameter, such as `/tasks/`. */
export type Ids = Readonly<Record<string, string>>

export const owner_email = 'owner@example.org'

export interface Looked {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface PageSite {
  readonly git: ManifestsInGit
  readonly mails: MailServer
  readonly owner: SignedIn
  readonly look: (path: string, cookie?: string) => Promise<Looked>
  readonly press: (path: string, cookie: string, fields: Iterable<readonly [string, string]>) => Promise<Looked>
  /** The cookies of a new browser in which the person signs in. */
  readonly browser: (email: string) => Promise<string>
  /** A new member of the workspace with this role. */
  readonly member: (email: string, role: 'admin' | 'member' | 'auditor') => Promise<SignedIn>
  readonly close: () => Promise<void>
}

export async function openPageSite({
  workspace = 'Acme',
  ...start
}: Start & { workspace?: string } = {}): Promise<PageSite> {
  const mails = await startMailServer()
  const env = {
    SVC_SMTP_URL: mails.url,
    SVC_OWNER_EMAIL: owner_email,
    SVC_CHECKPOINT_SECONDS: '1',
    SVC_LOG_HOST: 'log.example',
    SVC_RATE_LIMIT_ADDRESS: '100000',
    SVC_RATE_LIMIT_MAILBOX: '100000',
    ...start.env,
  }
  const git = await openManifestsInGit({ ...start, env })
  const { platform } = git
  const owner = await signedIn(platform, mails, owner_email)
  await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: workspace })
  const sent = async (path: string, init: RequestInit): Promise<Looked> => {
    const response = await fetch(platform.url + path, { ...init, redirect: 'manual' })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return {
    git,
    mails,
    owner,
    look: (path, cookie = '') => sent(path, { headers: { accept: 'text/html', cookie } }),
    press: (path, cookie, fields) => {
      const body = new URLSearchParams([...fields].map(([name, value]): [string, string] => [name, value]))
      return sent(path, { method: 'POST', headers: { accept: 'text/html', cookie }, body })
    },
    browser: (email) => browserOf(platform, mails, email),
    member: async (email, role) => {
      const guest = await signedIn(platform, mails, email)
      await join(owner, guest, owner.org_id, role)
      return guest
    },
    close: async () => {
      await git.close()
      await mails.close()
    },
  }
}

export interface Example {
  /** The path of the page with its parameters. */
  readonly page: string
  readonly address: string
  /** True if the page shows one thing, which another workspace cannot find. */
  readonly isDetail: boolean
}

const cases = parse(readFileSync(new URL('../../cases/pages.yaml', import.meta.url), 'utf8')) as {
  readonly further: readonly string[]
  readonly only: readonly string[]
}

/** Every page at its own address and at those of test/cases/pages.yaml. Throws for a page without values of its parameters. */
export function examplesOf(ids: Ids): Example[] {
  return workspacePages.flatMap(({ path }) => {
    const isOf = (one: string) => one.split('?')[0] === path
    const only = cases.only.filter(isOf)
    const addresses = only.length > 0 ? only : [path, ...cases.further.filter(isOf)]
    const isDetail = path.includes(':') || only.length > 0
    return addresses.map((one) => ({ page: path, address: filled(one, ids), isDetail }))
  })
}

function filled(path: string, ids: Ids): string {
  const idAt = (folder: string) => {
    const value = ids[folder]
    if (value === undefined || value === '')
      throw new Error(`the page ${path} needs a value of ${folder}: add it to test/support/dashboard/filled.ts`)
    return encodeURIComponent(value)
  }
  return path
    .replaceAll(/([^:?]*\/):\w+/g, (_, folder: string) => folder + idAt(folder))
    .replaceAll(/\{([^}]+)\}/g, (_, folder: string) => idAt(folder))
}

/** The examples of pages whose list can be downloaded, without queries. */
export function listsAmong(examples: readonly Example[]): Example[] {
  const listed = new Set(workspacePages.flatMap(({ path, listing }) => (listing === undefined ? [] : [path])))
  return examples.filter(({ page, address }) => listed.has(page) && !address.includes('?'))
}

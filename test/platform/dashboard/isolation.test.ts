// Every page for other people: another workspace, each role, and a browser that is not signed in. A new page is covered by being
// in the list of pages.
import type { EventList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { workspacePages } from '../../../platform/dashboard/pages.js'
import { fillWorkspace, mark } from '../../support/dashboard/filled.js'
import { type Button, buttonsOf } from '../../support/dashboard/html.js'
import {
  examplesOf,
  type Ids,
  listsAmong,
  openPageSite,
  owner_email,
  type PageSite,
} from '../../support/dashboard/site.js'
import { csrfOf } from '../../support/people/people.js'

let site: PageSite
let ids: Ids
beforeAll(async () => {
  site = await openPageSite()
  ids = await fillWorkspace(site)
})
afterAll(() => site.close())

const listings = () => listsAmong(examplesOf(ids))
const acts = workspacePages.flatMap(({ path, acts: known = {} }) => Object.keys(known).map((act) => ({ path, act })))
/** What a person may have typed into a form that the page does not show. */
const typed = { note: 'x', reason: 'x', name: 'x', purpose: 'x' }
/** How many events of the audit trail name the person as their actor. */
async function eventsOf({ id }: { readonly id: string }): Promise<number> {
  const path = `/api/v1/events?actor=person:${id}&limit=1`
  return (await site.git.platform.call<EventList>('GET', path)).body.total
}

describe('a person of another workspace', () => {
  let cookie = ''
  beforeAll(async () => {
    cookie = await site.browser('stranger@example.org')
  })

  it('sees the pages of lists without a text of the first workspace, and no page of its things', async () => {
    const shown = await Promise.all(
      examplesOf(ids).map(async ({ address, isDetail }) => {
        const { status, text } = await site.look(address, cookie)
        // The address itself is part of the page.
        const texts = text.replaceAll(new RegExp(`[^\\s"]*[/=][^\\s"]*${mark}[^\\s"]*`, 'g'), '')
        return { address, status, isFound: texts.includes(mark), expected: isDetail ? [404] : [200, 303] }
      }),
    )
    for (const { address, status, isFound, expected } of shown) {
      expect(expected, address).toContain(status)
      expect(isFound, address).toBe(false)
    }
  })

  it('downloads lists without a row of the first workspace', async () => {
    for (const { address, isDetail } of listings())
      for (const format of ['csv', 'json']) {
        const { status, text } = await site.look(`${address}.${format}`, cookie)
        expect([address, status, text.includes(mark)]).toEqual([address, isDetail ? 404 : 200, false])
      }
  })

  it('changes nothing of its things', async () => {
    const csrf = csrfOf(cookie)
    const details = examplesOf(ids).filter(({ isDetail, address }) => isDetail && !address.includes('?'))
    const before = await totalOf()
    for (const { page, address } of details)
      for (const { act } of acts.filter(({ path }) => path === page)) {
        const fields = { csrf, act, ...typed }
        const { status } = await site.press(address, cookie, Object.entries(fields))
        expect([404, 403, 422], `${address} ${act}`).toContain(status)
      }
    expect(await totalOf()).toBe(before)
  })
  const totalOf = async () => (await site.git.platform.call<EventList>('GET', '/api/v1/events?limit=1')).body.total
})

describe('a browser that is not signed in', () => {
  it('is led from every page to the sign-in, which returns to the same address', async () => {
    for (const { address } of examplesOf(ids)) {
      const { status, headers, text } = await site.look(address)
      const location = headers.get('location') ?? ''
      expect([address, status, text.includes(mark)]).toEqual([address, 303, location.includes(mark) && text !== ''])
      expect(location).toBe(`/sign-in?return_to=${encodeURIComponent(address)}`)
      const { text: form } = await site.look(location)
      const returned = /name="return_to" value="([^"]*)"/.exec(form)?.[1]?.replaceAll('&#x3D;', '=')
      expect(returned?.replaceAll('&amp;', '&')).toBe(address)
    }
  })

  it('downloads nothing', async () => {
    for (const { address } of listings()) {
      const { status, headers } = await site.look(`${address}.csv`)
      expect([status, headers.get('location')]).toEqual([303, `/sign-in?return_to=${encodeURIComponent(address)}`])
    }
  })

  it('sends no form', async () => {
    for (const { path, act } of acts) {
      const { status } = await site.press(path.replaceAll(/:\w+/g, 'x'), '', [['act', act]])
      expect([path, act, status]).toEqual([path, act, 403])
    }
  })
})

/** Acts of members about themselves, which every role may do. They would end the test. */
const ownActs = ['leave']

describe('a member without the right', () => {
  it('makes no change by any act of any page as an auditor, whose pages show none of these buttons', async () => {
    const auditor = await site.member('auditor@example.org', 'auditor')
    const cookie = await site.browser('auditor@example.org')
    const before = await eventsOf(auditor)
    for (const { page, address } of examplesOf(ids).filter((one) => !one.address.includes('?'))) {
      const { status, text } = await site.look(address, cookie)
      // A role that may not read a list gets a page that says so.
      expect([200, 303, 403], address).toContain(status)
      const shown = (status === 303 ? [] : buttonsOf(text)).map(({ act }) => act)
      const csrf = csrfOf(cookie)
      const hidden = acts.filter(({ path, act }) => path === page && ![...ownActs, ...shown].includes(act))
      for (const { act } of hidden) {
        const fields = { csrf, act, ...typed }
        const tried = await site.press(address, cookie, Object.entries(fields))
        // An act that needs a choice first, such as of rows, rejects the form before the API does.
        expect([403, 404, 409, 422], `${address} ${act}`).toContain(tried.status)
      }
    }
    expect(await eventsOf(auditor)).toBe(before)
  })
})

describe('the buttons that a page shows', () => {
  const roles = ['auditor', 'member', 'admin', 'owner'] as const
  /** What each role finds: the buttons of one change what the next would find. */
  const found: Partial<Record<(typeof roles)[number], Ids>> = {}
  beforeAll(async () => {
    for (const [index, role] of roles.entries()) found[role] = await fillWorkspace(site, 2 + index)
  })

  it.each(roles)('are only those whose request the API allows the %s', async (role) => {
    const email = role === 'owner' ? owner_email : `presses-${role}@example.org`
    if (role !== 'owner') await site.member(email, role)
    const cookie = await site.browser(email)
    const examples = examplesOf(found[role] ?? {})
    const shown: [string, Button][] = []
    for (const { address } of examples) {
      const { status, text } = await site.look(address, cookie)
      expect(role === 'owner' ? [200, 303] : [200, 303, 403], `${address} as ${role}`).toContain(status)
      const buttons = status === 303 ? [] : buttonsOf(text).filter(({ act }) => !ownActs.includes(act))
      shown.push(...buttons.map((button): [string, Button] => [address, button]))
    }
    let count = 0
    for (const [address, button] of shown) count += await pressed(cookie, address, button)
    if (role === 'owner') expect(count).toBeGreaterThan(5)
  })

  /** Presses the button, and those of the page that asks for a confirmation. Returns how many were pressed. */
  async function pressed(cookie: string, address: string, { act, label, fields }: Button): Promise<number> {
    const csrf = csrfOf(cookie)
    const named = fields.map(([name, value]) => [name, name === 'csrf' ? csrf : value] as const)
    const { status, text } = await site.press(address, cookie, named)
    expect(status, `${address}: ${label} (${act})`).not.toBe(403)
    expect(status, `${address}: ${label} (${act})`).toBeLessThan(500)
    if (status !== 200) return 1
    const next = buttonsOf(text).filter((button) => button.act !== act)
    let count = 1
    for (const button of next.slice(0, 5))
      count += await pressed(cookie, address, { ...button, label: `${label} > ${button.label}` })
    return count
  }
})

// Every page of a filled workspace in a real browser: both colour schemes, a phone, print, without JavaScript; accessible, within
// the policy of the pages, small, and without a broken link. A new page is covered by being in the list of pages.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { workspacePages } from '../../platform/dashboard/pages.js'
import { fillWorkspace } from '../support/dashboard/filled.js'
import { examplesOf, openPageSite, owner_email, type PageSite } from '../support/dashboard/site.js'
import { startBrowser } from '../support/people/browser.js'
import { sharedPostgres } from '../support/server/postgres.js'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** The folder for screenshots of the pages; none unless it is set. */
const pictures = process.env.SVC_PICTURES || undefined
const maxFirstViewBytes = 150_000
const browser = await startBrowser()
const postgres = await sharedPostgres()
afterAll(() => browser?.close())

/** The pages beside those of the list. */
const others = ['/account', '/device', '/sign-in']

type Look = BrowserContextOptions & { readonly print?: boolean; readonly checks_barriers?: boolean }

const phone = { viewport: { width: 390, height: 844 } }
const looks: readonly (readonly [name: string, Look])[] = [
  ['in light colours', { colorScheme: 'light', checks_barriers: true }],
  ['in dark colours', { colorScheme: 'dark', checks_barriers: true }],
  ['on a phone', phone],
  // The width of A4 at 96 dots per inch, without margins.
  ['on paper', { print: true, viewport: { width: 720, height: 1040 } }],
  ['without JavaScript', { ...phone, javaScriptEnabled: false }],
]

describe.skipIf(browser === null)('the dashboard in a browser', () => {
  describe('on the embedded database', () => pagesOn(browser as Browser, () => null, looks))
  describe.skipIf(postgres === null)('on PostgreSQL', () =>
    pagesOn(browser as Browser, () => postgres?.freshDatabase() ?? null, looks.slice(0, 1)),
  )
})

function pagesOn(chromium: Browser, database: () => string | null, those: typeof looks): void {
  let site: PageSite
  let addresses: readonly string[] = []
  let cookie = ''
  beforeAll(async () => {
    site = await openPageSite({ database_url: database() })
    addresses = [...examplesOf(await fillWorkspace(site)).map(({ address }) => address), ...others]
    cookie = await site.browser(owner_email)
  })
  afterAll(() => site.close())

  it.each(those)('shows every page %s', async (name, { print = false, checks_barriers = false, ...options }) => {
    const context = await signedIn(chromium, site, cookie, options)
    const page = await context.newPage()
    const wrong = await wrongOf(page)
    if (print) await page.emulateMedia({ media: 'print' })
    for (const address of addresses) {
      const response = await page.goto(site.git.platform.url + address, { waitUntil: 'load' })
      const found = wrong.splice(0)
      if (response?.status() !== 200) found.push(`status ${response?.status()}`)
      if (checks_barriers) found.push(...(await barriersOf(page)))
      const [needed, width] = [await widthOf(page), page.viewportSize()?.width ?? 0]
      if (needed > width) found.push(`needs a width of ${needed}`)
      const file = `${address.replaceAll(/\W+/g, '-')} ${name}.png`
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, file), fullPage: true })
      expect.soft(found, `${address} ${name}`).toEqual([])
    }
    await context.close()
  })

  it('loads every page within the budget of a first view', async () => {
    const { url } = site.git.platform
    for (const address of addresses) {
      const context = await signedIn(chromium, site, cookie, {})
      const page = await context.newPage()
      const bytes = await transferredBy(context, page, url + address)
      expect.soft(bytes, `${address}: transferred bytes`).toBeLessThanOrEqual(maxFirstViewBytes)
      await context.close()
    }
  })

  it('links to no page that is missing', async () => {
    const found = new Map<string, string>()
    for (const address of addresses)
      for (const [, href = ''] of (await site.look(address, cookie)).text.matchAll(/<a [^>]*?href="(\/[^"]*)"/g)) {
        const target = href.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=').split('#')[0] ?? ''
        if (!found.has(target)) found.set(target, address)
      }
    const broken: string[] = []
    for (const [target, address] of found) {
      const response = await fetch(site.git.platform.url + target, {
        headers: { accept: 'text/html', cookie },
        redirect: 'manual',
      })
      await response.body?.cancel()
      if (response.status >= 400) broken.push(`${address} links to ${target}: ${response.status}`)
    }
    expect(broken).toEqual([])
    expect(found.size).toBeGreaterThan(workspacePages.length)
  })
}

async function signedIn(
  chromium: Browser,
  site: PageSite,
  cookie: string,
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  const context = await chromium.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  const { url } = site.git.platform
  await context.addCookies(
    cookie.split('; ').map((one) => {
      const [name = '', value = ''] = one.split('=')
      return { name, value, url }
    }),
  )
  return context
}

/** The errors of the console from now on, and what violates the policy of the pages. */
async function wrongOf(page: Page): Promise<string[]> {
  const wrong: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) wrong.push(message.text())
  })
  page.on('pageerror', (error) => void wrong.push(error.message))
  const listen = `document.addEventListener('securitypolicyviolation', (event) =>
    console.error('policy violated: ' + event.violatedDirective + ' ' + event.blockedURI))`
  await page.addInitScript(listen)
  return wrong
}

/** Violations that axe-core finds, each with an element. */
async function barriersOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found: readonly Barrier[] = await page.evaluate('axe.run(document).then(({ violations }) => violations)')
  return found.map(({ id, nodes }) => `${id}: ${nodes.length} × ${nodes[0]?.html.slice(0, 200)}`)
}

interface Barrier {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

function widthOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth')
}

/** The bytes of all responses as they were sent, with an empty cache. */
async function transferredBy(context: BrowserContext, page: Page, address: string): Promise<number> {
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.goto(address, { waitUntil: 'load' })
  return bytes
}

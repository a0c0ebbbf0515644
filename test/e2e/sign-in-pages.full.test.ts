// The pages in a real browser: sign-in, invitations, devices and the account.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MemberList } from '@svc/schemas'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLogin } from '../support/cli/svc.js'
import { startBrowser } from '../support/people/browser.js'
import { type MailServer, startMailServer } from '../support/people/mail.js'
import { signedIn } from '../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../support/server/platform.js'

const browser = await startBrowser()
afterAll(() => browser?.close())
/** The folder for screenshots of the pages; none unless it is set. */
const pictures = process.env.SVC_PICTURES

describe.skipIf(browser === null)('in a browser', () => {
  let mails: MailServer
  let platform: TestPlatform
  let context: BrowserContext
  let page: Page
  const wrong: string[] = []
  const config = mkdtempSync(join(tmpdir(), 'svc-config-'))
  beforeAll(async () => {
    mails = await startMailServer()
    platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url } })
    context = await (browser as NonNullable<typeof browser>).newContext({ viewport: { width: 720, height: 520 } })
    page = await context.newPage()
    page.on('console', (message) => void wrong.push(message.text()))
    page.on('requestfailed', (request) => {
      const error = request.failure()?.errorText ?? ''
      // A browser that leaves a page aborts its open requests.
      if (error !== 'net::ERR_ABORTED') wrong.push(`${request.url()} ${error}`)
    })
  })
  afterAll(async () => {
    await context.close()
    await discard(platform)
    await mails.close()
    rmSync(config, { recursive: true, force: true })
  })
  const picture = async (name: string) => {
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) })
  }
  const heading = () => page.textContent('h1')
  /** After the button of a link the browser leaves the page of the link. */
  const signedInAs = async (email: string) => {
    await page.waitForURL(({ pathname }) => !pathname.startsWith('/auth/'))
    await page.goto(`${platform.url}/account`)
    expect(await page.textContent('main')).toContain(`Signed in as ${email}.`)
  }

  it('a link signs in by its button, once', async () => {
    await platform.call('POST', '/auth/magic-link', { as: null, body: { email: 'mia@example.org' } })
    const link = `${platform.url}/auth/magic-link?token=${await mails.tokenFor('mia@example.org')}`
    await page.goto(link)
    await picture('sign-in')
    await page.click('button')
    await signedInAs('mia@example.org')
    await picture('signed-in')
    const cookies = await context.cookies()
    expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]).sort()).toEqual([
      ['svc_access', true, 'Lax'],
      ['svc_csrf', false, 'Lax'],
    ])
    await page.goto(link)
    expect(await page.textContent('main')).toContain('has expired or was already used')
    await picture('used-link')
  })

  it('a terminal is approved', async () => {
    const login = await startLogin(['--url', platform.url], { SVC_CONFIG_DIR: config })
    await page.goto(String(login.address))
    await picture('device')
    await page.click('button[value=approve]')
    expect(await page.textContent('main')).toContain('The program has access')
    await picture('device-done')
    const { code, stdout } = await login.finished
    expect([code, stdout]).toEqual([0, expect.stringContaining('logged in as mia@example.org')])
  })

  it('an invitation is accepted without a terminal, and the browser switches workspaces', async () => {
    const owner = await signedIn(platform, mails, 'owner@example.org')
    const at = `/auth/workspaces/${owner.org_id}`
    await owner.call('POST', `${at}/promote`, { name: 'Acme <b>Compliance</b>' })
    await owner.call('POST', `${at}/offers`, { kind: 'invitation', email: 'mia@example.org', role: 'auditor' })
    await page.goto(`${platform.url}/account`)
    await picture('account')
    expect(await page.textContent('main')).toContain('Acme <b>Compliance</b> invites you to join as auditor.')
    await page.click('button[value=accept]')
    expect(await page.textContent('main')).toContain('You have no pending invitations or offers.')
    await page.click('button[value=use]')
    await picture('account-there')
    expect(await page.textContent('form.row:has(p:text("current workspace"))')).toContain('Acme')
    const { members } = (await owner.call<MemberList>('GET', `${at}/members`)).body
    expect(members.map(({ email, role }) => [email, role])).toContainEqual(['mia@example.org', 'auditor'])
  })

  it('the link of an invitation signs in its own address only, by its button', async () => {
    const owner = await signedIn(platform, mails, 'other-owner@example.org')
    const at = `/auth/workspaces/${owner.org_id}`
    await owner.call('POST', `${at}/promote`, { name: 'Beta' })
    const invite = async (email: string) => {
      await owner.call('POST', `${at}/offers`, { kind: 'invitation', email })
      return `${platform.url}/auth/invitation?token=${await mails.tokenFor(email)}`
    }
    await page.goto(await invite('someone-else@example.org'))
    await picture('invitation-other')
    expect(await page.textContent('main')).toContain('this invitation is for someone-else@example.org')
    const link = await invite('mia@example.org')
    await page.goto(link)
    await picture('invitation')
    await page.click('button')
    expect(await heading()).toBe('Invitation accepted')
    await picture('invitation-accepted')
    await page.goto(link)
    expect(await page.textContent('main')).toContain('was already accepted')
    await picture('invitation-used')
    await page.goto(`${platform.url}/account`)
    expect(await page.textContent('form.row:has(p:text("current workspace"))')).toContain('Beta')
    await picture('account-end')
  })

  it('signing out ends the session', async () => {
    await page.click('button[value=logout]')
    await page.waitForURL(`${platform.url}/sign-in`)
    expect(await context.cookies()).toEqual([])
    await page.goto(`${platform.url}/account`)
    expect(new URL(page.url()).pathname).toBe('/sign-in')
  })

  it('an anonymous visitor signs in by a link first', async () => {
    await context.clearCookies()
    await page.goto(`${platform.url}/device`)
    await picture('device-sign-in')
    await page.fill('input[name=email]', 'noah@example.org')
    await page.click('button')
    expect(await page.textContent('main')).toContain('If the address is correct, a link is sent by mail.')
    await page.goto(`${platform.url}/auth/magic-link?token=${await mails.tokenFor('noah@example.org')}`)
    await page.click('button')
    await signedInAs('noah@example.org')
  })

  it('an account ends with its address and a button', async () => {
    await page.goto(`${platform.url}/account`)
    await page.fill('input[name=email]', 'noah@example.org')
    await page.click('button[value=end]')
    expect(await heading()).toBe('Your account has ended')
    await picture('account-ended')
    expect(await context.cookies()).toEqual([])
  })

  it('no request violates the policy of the pages or fails', () => {
    // The console shows the status of a link that was used or is for another address.
    expect(wrong.filter((text) => !/ (401|409|410) /.test(text))).toEqual([])
  })
})

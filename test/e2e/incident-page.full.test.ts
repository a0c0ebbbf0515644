// The page of an incident in a real browser: from the link of a mail through the sign-in, its buttons, and hostile texts.
import { join } from 'node:path'
import type { Incident } from '@svc/schemas'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/people/browser.js'
import { type MailServer, startMailServer } from '../support/people/mail.js'
import { discard, startPlatform, type TestPlatform } from '../support/server/platform.js'

const browser = await startBrowser()
afterAll(() => browser?.close())
/** The folder for screenshots of the page; none unless it is set. */
const pictures = process.env.SVC_PICTURES
const attack = '<script>document.title = "run"</script><img src=x onerror="document.title=1">'

describe.skipIf(browser === null)('the page of an incident in a browser', () => {
  let mails: MailServer
  let platform: TestPlatform
  let context: BrowserContext
  let page: Page
  let id: string
  const wrong: string[] = []
  beforeAll(async () => {
    mails = await startMailServer()
    platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url, SVC_OWNER_EMAIL: 'mia@example.org' } })
    const agent = { agent_key: attack, name: 'Refund desk', owner_id: 'o', purpose: 'p' }
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: agent })
    const rule = { rule_type: 'field_not_empty', scope: 'step_execution', severity: 'high' }
    const params = { field: 'input.amount', target_step_names: ['refund'] }
    const policy = { name: 'Refunds have an amount', ...rule, params }
    const { body: made } = await platform.call<{ id: number }>('POST', '/api/v1/policies', { body: policy })
    const step = { task_id: attack, step_type: 'step.resource', verb: 'POST', step_name: 'refund', input: {} }
    for (const number of [1, 2, 3]) {
      const body = { ...step, step: number, timestamp: `2026-01-05T09:00:0${number}Z` }
      expect((await platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
    }
    const list = await platform.call<{ incidents: Incident[] }>('GET', `/api/v1/incidents?policy_id=${made.id}`)
    id = list.body.incidents[0]?.id ?? ''
    context = await (browser as NonNullable<typeof browser>).newContext({ viewport: { width: 1280, height: 900 } })
    page = await context.newPage()
    page.on('console', (message) => void wrong.push(message.text()))
    page.on('dialog', (dialog) => void wrong.push(dialog.message()))
  })
  afterAll(async () => {
    await context.close()
    await discard(platform)
    await mails.close()
  })
  /** Pictures in both colour schemes, and the width that the page needs on a phone. */
  const looks = async (name: string) => {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 900 })
        const needed = await page.evaluate('document.documentElement.scrollWidth')
        expect([name, width, needed]).toEqual([name, width, width])
        const path = join(pictures ?? '', `${name}-${width}-${colorScheme}.png`)
        if (pictures !== undefined) await page.screenshot({ path, fullPage: true })
      }
  }

  it('opens after the sign-in that its link led to', async () => {
    await page.goto(`${platform.url}/incidents/${id}`)
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await page.fill('input[name=email]', 'mia@example.org')
    await page.click('button')
    expect(await page.textContent('main')).toContain('If the address is correct')
    const token = await mails.tokenFor('mia@example.org')
    const link = `${platform.url}/auth/magic-link?token=${token}&return_to=${encodeURIComponent(`/incidents/${id}`)}`
    await page.goto(link)
    await page.click('button')
    expect([page.url(), await page.textContent('h1')]).toEqual([
      `${platform.url}/incidents/${id}`,
      'Violated: Refunds have an amount',
    ])
    await looks('incident-open')
  })

  it('shows hostile names as texts, and moves the incident by its buttons', async () => {
    expect(await page.textContent('dl')).toContain(attack)
    await page.click('button[value=review]')
    await page.fill('textarea[name=note]', attack)
    await page.click('button[value=resolve]')
    expect(await page.textContent('main')).toContain(`open → in review`)
    expect(await page.textContent('main')).toContain('in review → resolved')
    expect([await page.locator('img').count(), await page.title()]).toEqual([
      0,
      'Violated: Refunds have an amount · svc',
    ])
    await looks('incident-resolved')
  })

  it('is not found under another id', async () => {
    await page.goto(`${platform.url}/incidents/inc_other`)
    expect(await page.textContent('main')).toContain('This incident does not exist.')
    await looks('incident-absent')
  })

  it('violates no policy of the pages', () => {
    expect(wrong.filter((text) => !/ 404 /.test(text))).toEqual([])
  })
})

// What people do in the dashboard, in a real browser, with and without JavaScript, on both databases: the first step, a violation and its
// record, incidents at once, a stop, a policy, a manifest, settings, a report.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { AgentList, IncidentList, PolicyList, ReportList, Retention, StopList } from '@svc/schemas'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPageSite, owner_email, type PageSite } from '../support/dashboard/site.js'
import { refunds } from '../support/git/manifests-in-git.js'
import { startBrowser } from '../support/people/browser.js'
import { sharedPostgres } from '../support/server/postgres.js'

const browser = await startBrowser()
const postgres = await sharedPostgres()
afterAll(() => browser?.close())

describe.skipIf(browser === null)('people in the dashboard', () => {
  describe('on the embedded database', () => {
    journeys(browser as Browser, () => null, true)
    journeys(browser as Browser, () => null, false)
  })
  describe.skipIf(postgres === null)('on PostgreSQL', () => {
    journeys(browser as Browser, () => postgres?.freshDatabase() ?? null, true)
    journeys(browser as Browser, () => postgres?.freshDatabase() ?? null, false)
  })
})

const shell = { step_type: 'step.exec', step_name: 'shell', properties: { exec: { command: 'make' } } }

function journeys(chromium: Browser, database: () => string | null, javaScriptEnabled: boolean): void {
  describe(javaScriptEnabled ? 'with JavaScript' : 'without JavaScript', () => {
    let site: PageSite
    let context: BrowserContext
    let page: Page
    const wrong: string[] = []
    const enter = async (email: string) => {
      const { hostname } = new URL(site.git.platform.url)
      const made = await chromium.newContext({ javaScriptEnabled, acceptDownloads: true })
      const cookies = (await site.browser(email)).split('; ').map((pair) => pair.split('='))
      await made.addCookies(cookies.map(([name = '', value = '']) => ({ name, value, domain: hostname, path: '/' })))
      return made
    }
    const go = (path: string) => page.goto(site.git.platform.url + path)
    const text = async () => (await page.textContent('main')) ?? ''
    const press = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).first().click()
      await page.waitForLoadState()
    }
    const follow = async (name: string) => {
      await page.getByRole('link', { name }).first().click()
      await page.waitForLoadState()
    }
    const log = async (task_id: string, ...steps: readonly object[]) => {
      for (const [index, step] of steps.entries()) {
        const body = { task_id, step: index + 1, timestamp: '2026-01-05T09:00:00Z', ...step }
        expect((await site.git.platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
      }
    }
    beforeAll(async () => {
      site = await openPageSite({ database_url: database() })
      const agent = { agent_key: 'coder', name: 'Shop coder', owner_id: 'o', purpose: 'p' }
      await site.git.platform.call('POST', '/api/v1/agents', { as: 'key', body: agent })
      for (const task of ['one', 'two', 'three'])
        await log(task, { step_type: 'task.start', agent_key: 'coder' }, shell, { step_type: 'task.end' })
      context = await enter(owner_email)
      page = await context.newPage()
      page.on('console', (message) => void (message.type() === 'error' && wrong.push(message.text())))
      page.on('dialog', (dialog) => void wrong.push(dialog.message()))
    })
    afterAll(async () => {
      await context.close()
      await site.close()
    })

    it('bring the first step in with the commands that the page shows, and see its task', async () => {
      const own = await enter('new@example.org')
      page = await own.newPage()
      await go('/')
      await press('Create an API key and show the commands')
      const commands = await page.locator('pre code').allTextContents()
      expect(commands).toHaveLength(3)
      for (const command of commands) await promisify(execFile)('sh', ['-c', command])
      if (!javaScriptEnabled) await follow('Look now')
      await page.waitForURL('**/tasks/first-task')
      expect(await text()).toContain('None of the 2 recorded steps violates a policy')
      await own.close()
      page = await context.newPage()
    })

    it('see why a step is a violation, open its payload, verify the record, and go to the next task', async () => {
      await go('/tasks/two')
      expect(await text()).toContain('ran without the approval that it needs')
      await page.locator('#step-2 a.opens').click()
      await page.waitForSelector('#step-2 details[open]')
      expect(await page.textContent('#step-2')).toContain('"command": "make"')
      await follow('Violations only (1)')
      expect(await page.locator('.timeline-list > li').count()).toBe(1)
      await follow('Verify now')
      await page.waitForSelector('text=No alteration was found')
      if (javaScriptEnabled) await page.keyboard.press('j')
      else await follow('Next task')
      await page.waitForURL('**/tasks/one**')
    })

    it('resolve incidents at once, after a page that names them, and say why', async () => {
      await go('/incidents?state=open&severity=critical')
      for (const box of await page.getByRole('checkbox', { name: /^Select Code/ }).all()) await box.check()
      await press('Resolve…')
      expect(await text()).toContain('Resolve 3 incidents?')
      await page.fill('textarea[name=note]', 'a test of the build')
      await press('Resolve 3 incidents')
      expect(await text()).toContain('Nothing matches this filter.')
      const { body } = await site.git.platform.call<IncidentList>('GET', '/api/v1/incidents?state=resolved')
      expect(body.incidents.map(({ note }) => note)).toEqual(Array(3).fill('a test of the build'))
    })

    it('name a filter, and take all its rows away as a file', async () => {
      await go('/incidents?state=resolved&effect=executed')
      await page.getByText('Save this filter as…').click()
      await page.fill('#view-name', 'Done but run')
      await press('Save')
      await go('/incidents')
      await follow('Done but run')
      expect([...new URL(page.url()).searchParams].sort()).toEqual([
        ['effect', 'executed'],
        ['state', 'resolved'],
      ])
      const waiting = page.waitForEvent('download')
      await page.getByRole('link', { name: 'CSV' }).click()
      const file = await (await waiting).path()
      expect(readFileSync(file, 'utf8').trim().split('\r\n')).toHaveLength(4)
    })

    it('find the agent without an engine, and stop it after a warning', async () => {
      await go('/agents')
      await follow('Without an engine')
      expect(await text()).toContain('none has reported since its registration')
      await follow('Shop coder')
      expect(await text()).toContain('Start a local engine next to the agent')
      await page.locator('a[href^="/stops/new"]').first().click()
      expect(await text()).toMatch(/No engine reports/)
      await page.fill('[name=reason]', 'drill')
      await press('Stop now')
      const { body } = await site.git.platform.call<StopList>('GET', '/api/v1/stops')
      expect(body.stops.map(({ reason }) => reason)).toEqual(['drill'])
      const { agents } = (await site.git.platform.call<AgentList>('GET', '/api/v1/agents?stopped=true')).body
      expect(agents.map(({ agent_key }) => agent_key)).toContain('coder')
    })

    it('write a policy by the form of its rule, after a try on recorded tasks', async () => {
      await go('/policies/new?rule_type=field_not_empty')
      await page.fill('[name="params.field"]', 'input.ticket')
      await page.fill('[name=name]', 'Steps name a ticket')
      await press('Try on recorded tasks')
      const { policies } = (await site.git.platform.call<PolicyList>('GET', '/api/v1/policies?source=hand')).body
      expect(policies.map(({ name }) => name)).not.toContain('Steps name a ticket')
      expect(await text()).toMatch(/\b3\b[^.]*tasks?/)
      await press('Save the policy')
      expect(await page.textContent('h1')).toContain('Steps name a ticket')
    })

    it('pin the version of a manifest that a repository gives, after a page that says what follows', async () => {
      const { git } = site
      const repo = await git.connect({ 'refunds.yaml': refunds([{ name: 'Refunds are small' }]) })
      const { agent_id } = await git.register({ agent_key: 'payer', owner_id: 'o', purpose: 'p' })
      expect((await git.assign(agent_id, repo.id)).status).toBe(201)
      await go('/manifests')
      await follow('Refunds')
      expect(await text()).toContain('in step with the branch')
      await follow('Pin')
      expect(await text()).toContain('Pushes to the branch change nothing')
      await press('Pin this version')
      expect(await text()).toContain('pinned')
    })

    it('compare settings as a file, and apply what the page shows', async () => {
      await go('/settings/file')
      await page.fill('textarea', 'version: 1\nretention:\n  retention_days: 400\n')
      await press('Compare with the workspace')
      expect(await text()).toContain('400')
      await press('Apply 1 change')
      const { body } = await site.git.platform.call<Retention>('GET', '/api/v1/retention')
      expect(body.retention_days).toBe(400)
    })

    it('make a report, and find the way to verify it', async () => {
      await go('/reports/new')
      await page.fill('[name=from]', '2026-01-01')
      await press('Make the report')
      await expect
        .poll(
          async () => (await site.git.platform.call<ReportList>('GET', '/api/v1/reports')).body.reports[0]?.status,
          {
            timeout: 120_000,
          },
        )
        .toBe('ready')
      await go('/reports')
      await page.locator('main a[href^="/reports/rep"]').first().click()
      expect(await text()).toContain('svc verify')
      expect(wrong).toEqual([])
    })
  })
}

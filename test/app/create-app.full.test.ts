// The form that creates the App, opened from the disk in a browser: what it sends to GitHub.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/people/browser.js'

describe('create-app.html', () => {
  let browser: Browser | null
  const received: { url: string; manifest: unknown }[] = []
  const github = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => {
      body += part.toString()
    })
    request.on('end', () => {
      if (request.method === 'POST')
        received.push({
          url: request.url ?? '',
          manifest: JSON.parse(new URLSearchParams(body).get('manifest') ?? 'null') as unknown,
        })
      response.end('received')
    })
  })
  beforeAll(async () => {
    browser = await startBrowser()
    await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', () => resolve()))
  })
  afterAll(async () => {
    await browser?.close()
    github.close()
  })

  it.each([
    { organization: 'acme', path: '/organizations/acme/settings/apps/new' },
    { organization: '', path: '/settings/apps/new' },
  ])('sends the manifest to $path', async ({ organization, path }) => {
    if (browser === null) return
    const page = await browser.newPage()
    await page.goto(new URL('../../app/create-app.html', import.meta.url).href)
    await page.fill('#platform', 'https://policies.acme.example/')
    await page.fill('#name', 'Acme "policies" <b>')
    await page.fill('#organization', organization)
    await page.fill('#github', `http://127.0.0.1:${(github.address() as AddressInfo).port}/`)
    await page.click('button')
    await page.waitForURL(/127\.0\.0\.1/)
    expect(received.at(-1)).toMatchObject({
      url: path,
      manifest: {
        name: 'Acme "policies" <b>',
        url: 'https://policies.acme.example',
        hook_attributes: { url: 'https://policies.acme.example/api/v1/github/webhook', active: true },
        redirect_url: 'https://policies.acme.example/livez',
        public: false,
        default_permissions: { checks: 'write', contents: 'read' },
      },
    })
    await page.close()
  })
})

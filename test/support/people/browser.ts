// A browser of this machine; null, with a message, without one.
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const quiet = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']

export async function startBrowser(): Promise<Browser | null> {
  const executablePath = places.find((path) => existsSync(path))
  if (executablePath === undefined) {
    console.log('skipped: no Chromium on this machine')
    return null
  }
  // Its sandbox needs a user that is not root.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({
    executablePath,
    args: [...quiet, ...asRoot, '--disable-component-update', '--disable-sync'],
  })
}

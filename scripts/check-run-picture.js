// Makes docs/images/check-run*.png again: the check runs of `npm run demo:github`, in a browser of this machine.
// `npm run build && node scripts/check-run-picture.js`; the browser is `chromium`, or the one that CHROMIUM names.
import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('../', import.meta.url))
const { openCompany } = await import(`${root}test/dist/demo/company.js`)
const { begin, completedCheck, openLoosening, openTightening, pageOf } = await import(`${root}test/dist/demo/story.js`)

const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
  (path) => path !== undefined && existsSync(path),
)
if (executablePath === undefined) {
  process.stderr.write('no browser: set CHROMIUM to the path of a Chromium\n')
  process.exit(2)
}

const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-lcd-text']
const size = { width: 1180, height: 1150 }
mkdirSync(`${root}docs/images`, { recursive: true })

const browser = await chromium.launch({ executablePath, args })
const company = await openCompany({ has_airline: false })
try {
  await begin(company)
  await take('check-run', openTightening(company))
  await take('check-run-approval', openLoosening(company))
} finally {
  await company.close()
  await browser.close()
}

/** The top of the page of the check run, as it is without the buttons. */
async function take(name, pull) {
  const run = await completedCheck(company, 'svc / policies', pull.head_sha)
  const tab = await browser.newPage({ viewport: size })
  await tab.goto(pageOf(company, run))
  await tab.screenshot({ path: `${root}docs/images/${name}.png`, clip: { x: 0, y: 0, ...size } })
  await tab.close()
}

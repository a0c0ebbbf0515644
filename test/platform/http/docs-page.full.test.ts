// The API page in a real browser: it shows every endpoint and does not violate its content security policy.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../support/server/postgres.js'
import { startProcess } from '../../support/server/process.js'

const hasBrowser = spawnSync('chromium', ['--version']).status === 0
if (!hasBrowser) console.log('skipped: no chromium on this machine')

/** The page after its scripts have run, and the messages of the browser. */
function render(url: string, profile: string) {
  const quiet = [
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  const args = [
    '--headless',
    '--no-sandbox',
    ...quiet,
    `--user-data-dir=${profile}`,
    '--enable-logging=stderr',
    // Of a long list the page renders only the part in the window.
    '--window-size=1200,40000',
    '--virtual-time-budget=10000',
    '--dump-dom',
    url,
  ]
  const { stdout, stderr } = spawnSync('chromium', args, { encoding: 'utf8', maxBuffer: 1 << 26, timeout: 60_000 })
  return { dom: stdout, console: stderr.split('\n').filter((line) => line.includes('CONSOLE')) }
}

describe.skipIf(!hasBrowser)('/docs', () => {
  let platform: Awaited<ReturnType<typeof startProcess>>
  const folder = mkdtempSync(join(tmpdir(), 'svc-docs-'))
  beforeAll(async () => {
    platform = await startProcess({ SVC_DATA_DIR: join(folder, 'data'), SVC_PORT: String(await freePort()) })
  })
  afterAll(async () => {
    await platform.terminate()
    rmSync(folder, { recursive: true, force: true })
  })

  it('shows every endpoint without an error in the browser', async () => {
    const { paths } = (await (await fetch(`${platform.url}/openapi.json`)).json()) as { paths: Record<string, object> }
    const { dom, console: said } = render(`${platform.url}/docs`, join(folder, 'profile'))
    const shown = dom.replaceAll(/<wbr>|\u200b/g, '')
    for (const path of Object.keys(paths)) expect(shown).toContain(`data-path="${path}"`)
    expect(said).toEqual([])
  })
})

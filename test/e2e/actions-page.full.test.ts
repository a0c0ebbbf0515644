// The commands of docs/actions.md run as printed, in order, on a platform of their own.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf, makeClone, matches, openTerminal, type Terminal } from '../support/people/page.js'
import { freePort } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'

const page = 'docs/actions.md'
const hasAll = ['bash', 'curl', 'python3'].every((name) => spawnSync(name, ['--version']).status === 0)

describe.skipIf(!hasAll)(page, () => {
  const clone = mkdtempSync(join(tmpdir(), 'svc-actions-page-'))
  let ports: { receiver: number; platform: number }
  let platform: PlatformProcess
  let terminal: Terminal

  beforeAll(async () => {
    ports = { receiver: await freePort(), platform: await freePort() }
    const path = makeClone(clone)
    platform = await startProcess({ SVC_DATA_DIR: join(clone, 'data'), SVC_PORT: String(ports.platform) })
    terminal = openTerminal(clone, { PATH: path })
  })
  afterAll(async () => {
    await terminal.close()
    await platform.terminate()
    rmSync(clone, { recursive: true, force: true })
  })

  /** The text with the ports of this test for the usual ones. */
  const here = (text: string) =>
    text
      .replaceAll('127.0.0.1:9000', `127.0.0.1:${ports.receiver}`)
      .replaceAll('"127.0.0.1", 9000', `"127.0.0.1", ${ports.receiver}`)
      .replaceAll(':8080', `:${ports.platform}`)

  it('works as printed', async () => {
    const blocks = blocksOf(page)
    expect(blocks).toHaveLength(4)
    for (const { commands, output } of blocks) {
      const printed = await terminal.run(here(commands))
      if (output !== null && !matches(printed, output))
        expect.fail(`${page} shows for\n\n${commands}\n${output}\nand this was printed:\n\n${printed}`)
    }
  })
})

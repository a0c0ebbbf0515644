// Sessions of coding agents on a real platform: a session that grows between two imports is stored once; long sessions; and
// files that are too large for memory.
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { JsonMap } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { startPlatform, type TestPlatform } from '../support/server/platform.js'
import { claudeLine, sessionId } from '../support/spans/sessions.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-import-test-'))
let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(async () => {
  await platform.close()
  rmSync(folder, { recursive: true })
})

const path = join(folder, `${sessionId}.jsonl`)
/** 900 commands: 1,800 steps, which are sent in several parts. */
const lines = Array.from({ length: 900 }, (_, index) => [
  claudeLine({ call: [`t${index}`, 'Bash', { command: `make ${index}` }] }, 2 * index),
  claudeLine({ results: { [`t${index}`]: `made ${index}` } }, 2 * index + 1),
]).flat()
const textOf = (some: readonly JsonMap[]) => some.map((line) => `${JSON.stringify(line)}\n`).join('')

async function importTo(): Promise<JsonMap> {
  const args = ['import', 'claude-code', path, '--to', platform.url, '--json']
  const { code, stdout, stderr } = await runSvc(args, { SVC_API_KEY: platform.api_key })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as JsonMap
}

describe('a session that grows', () => {
  it('is stored once, in order, under an agent that is registered once', async () => {
    writeFileSync(path, textOf(lines.slice(0, 701)).slice(0, -40))
    expect(await importTo()).toMatchObject({ steps: 699, created: 699, replayed: 0, torn_files: 1, open_steps: 2 })
    expect(await importTo()).toMatchObject({ steps: 699, created: 0, replayed: 699 })
    writeFileSync(path, textOf(lines))
    expect(await importTo()).toMatchObject({ steps: 1799, created: 1100, replayed: 699, torn_files: 0, open_steps: 2 })
    const { body } = await platform.call<{ tasks: JsonMap[] }>('GET', '/api/v1/logs/tasks', { as: 'operator' })
    expect(JSON.stringify(body)).toContain(`"step_count":1799`)
    const verified = await platform.call('GET', `/api/v1/tasks/${sessionId}/verify`, { as: 'operator' })
    expect(verified).toMatchObject({ status: 200, body: { valid: true } })
  })
})

describe('a large session', () => {
  it('is imported in constant memory, with a line of 64 MiB that is reported', async () => {
    const large = join(folder, 'large.jsonl')
    const file = createWriteStream(large)
    const text = 'x'.repeat(100_000)
    for (let index = 0; index < 4000; index++) {
      const line = claudeLine(
        index % 2 === 0
          ? { call: [`t${index}`, 'Bash', { command: 'make' }] }
          : { results: { [`t${index - 1}`]: text } },
        index,
      )
      if (!file.write(`${JSON.stringify(line)}\n`)) await once(file, 'drain')
    }
    file.write(`${'x'.repeat(64 * 1024 * 1024 + 1)}\n${JSON.stringify(claudeLine({ user: 'Thanks' }, 4000))}\n`)
    file.end()
    await finished(file)
    const args = ['import', 'claude-code', large, '--out', join(folder, 'large.out'), '--json']
    const { code, stdout, stderr } = await runSvc(args, { NODE_OPTIONS: '--max-old-space-size=96' })
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${large}:4001 longer than 64 MiB\n` })
    expect(JSON.parse(stdout)).toMatchObject({ steps: 4002, bad_lines: 1 })
  })
})

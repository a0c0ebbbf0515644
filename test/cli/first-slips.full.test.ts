// The first mistakes of an author in the manifest of `svc init`, with the exact messages.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runSvc } from '../support/engine/serve.js'

interface Slip {
  readonly name: string
  readonly find: string
  readonly write: string
  readonly code: number
  readonly out: string
}

const slips = parse(
  readFileSync(new URL('../cases/manifests/first-slips.yaml', import.meta.url), 'utf8'),
) as readonly Slip[]

describe('a mistake in the manifest of svc init', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-slips-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'policies/refunds.yaml')
  let valid: string
  beforeAll(async () => {
    await runSvc(['init', folder])
    valid = readFileSync(file, 'utf8')
  })

  it.each(slips)('is explained: $name', async ({ find, write, code: expected, out: text }) => {
    expect(valid.split(find).length).toBeGreaterThan(1)
    writeFileSync(
      file,
      valid.replace(find, () => write),
    )
    const { code, out, err } = await runSvc(['test', join(folder, 'policies')])
    const printed = out
      .replaceAll(`${folder}/`, '')
      .replace(/`[^`]*svc[^`]* (rules|steps)`/g, '`svc $1`')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('  ✓'))
    expect([code, err, `${printed.join('\n')}\n`]).toEqual([expected, '', text])
  })
})

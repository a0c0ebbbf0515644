// Random changes of a bundle: of its bytes in transit, and of its contents with a valid signature.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { signerOf } from '@svc/proof'
import type { BundleManifest } from '@svc/schemas'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packBundle } from '../../../proof/attacks/pack.js'
import { parseTrustPolicy } from '../../../proof/notes/trust.js'
import { verifyBundle } from '../../../proof/verify/verify.js'
import { contentsOf, downloadBundle, openAuditorFolder, secondVerdict } from '../../support/log/bundle.js'
import { checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const mutations = Number(process.env.SVC_MUTATIONS ?? 100)
/** Of so many bytes one is changed, which one differs between runs; SVC_MUTATION_EACH=1 changes all 13,000. */
const each = Number(process.env.SVC_MUTATION_EACH ?? 50)
const first = Date.now() % each
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

describe('a bundle', () => {
  let platform: TestPlatform
  let original: Buffer
  let trust: string
  let now = Date.parse('2026-03-01T09:00:00Z')
  beforeAll(async () => {
    platform = await startPlatform({ env: fast, clock: () => now++ })
    await register(platform)
    await logSteps(platform, 'one', 6)
    await checkpointOf(platform, 6)
    now = Date.parse('2026-03-01T09:40:00Z')
    await platform.call('POST', '/api/v1/erasures', { body: { task_id: 'one', legal_basis: 'a test' } })
    now = Date.parse('2026-03-01T10:00:00Z')
    await logSteps(platform, 'two', 5)
    trust = `log ${(await checkpointOf(platform, 6 + 2 + 5)).key}\n`
    // The bundle ends before the erasure and begins after the first events.
    original = await downloadBundle(platform, '?from=2026-03-01T09:00:00.004Z&to=2026-03-01T09:30:00Z')
  })
  afterAll(() => discard(platform))

  const isValid = async (bytes: Buffer) => {
    const path = auditor.put('bundle.zip', bytes)
    const { valid, container } = await verifyBundle({ path, policy: parseTrustPolicy(trust).value, since: null })
    return valid && container === 'issued'
  }
  const alsoFor = (second: boolean) =>
    second
      ? isAsIssued(secondVerdict(join(auditor.folder, 'bundle.zip'), auditor.put('trust.policy', trust)))
      : undefined

  it('is valid without a change', async () => {
    expect(await isValid(original)).toBe(true)
    expect(alsoFor(true) ?? true).toBe(true)
  })

  it('is not valid as issued after a change of a byte', async () => {
    let count = 0
    for (let at = first; at < original.length; at += each) {
      count += 1
      const bytes = Buffer.from(original)
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at)
      expect([at, await isValid(bytes)]).toEqual([at, false])
      expect([at, alsoFor(count % 60 === 0) ?? false]).toEqual([at, false])
    }
    console.log(`${count} of ${original.length} bytes changed, 0 undetected`)
  })

  it(`is invalid after each of ${mutations} changes of its contents, although the key of the log signed them`, async () => {
    const contents = contentsOf(original)
    const manifest = JSON.parse(String(contents.get('manifest.json'))) as BundleManifest
    const seed = Buffer.from(readFileSync(join(platform.data_dir, 'log', 'signing-key'), 'utf8').trim(), 'hex')
    const signer = signerOf(manifest.origin, 'note', seed)
    const packed = (files: ReadonlyMap<string, Buffer>) => {
      const { v: _v, keys: _keys, files: _files, ...head } = manifest
      return packBundle(head, files, signer)
    }
    expect(await isValid(packed(contents))).toBe(true)
    const names = [
      'records.jsonl',
      'payloads.jsonl',
      'policy_sets.jsonl',
      'checkpoints.jsonl',
      'authority.jsonl',
      'leaves.bin',
      'nodes.bin',
    ]
    for (const name of names) expect([name, contents.get(name)?.length]).not.toEqual([name, 0])
    let turn = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), change, async (name, { kind, at, other, byte }) => {
        const before = contents.get(name) ?? Buffer.alloc(0)
        const after = changed(name, before, kind, at, other, byte)
        const files = new Map([...contents, [name, after]])
        const same = Buffer.compare(before, after) === 0
        expect([name, kind, at, await isValid(packed(files))]).toEqual([name, kind, at, same])
        turn += 1
        expect(alsoFor(turn % 40 === 0) ?? same).toBe(same)
      }),
      { numRuns: mutations, endOnFailure: true },
    )
    console.log(`${turn} changes of contents, 0 undetected, 0 false alarms`)
  })
})

/** A change outside the files shows in the container. */
const isAsIssued = (verdict: ReturnType<typeof secondVerdict>) =>
  verdict === null ? undefined : verdict.valid && verdict.container === 'issued'

const change = fc.record({
  kind: fc.constantFrom('edit', 'edit', 'edit', 'drop', 'insert', 'line', 'swap'),
  at: fc.nat(1_000_000),
  other: fc.nat(1_000_000),
  byte: fc.integer({ min: 0x20, max: 0x7e }),
})

function changed(name: string, content: Buffer, kind: string, at: number, other: number, byte: number): Buffer {
  const offset = at % content.length
  const [before, after] = [content.subarray(0, offset), content.subarray(offset)]
  if (kind === 'edit') return Buffer.concat([before, Buffer.of(byte), after.subarray(1)])
  if (kind === 'drop') return Buffer.concat([before, after.subarray(1 + (other % 40))])
  if (kind === 'insert') return Buffer.concat([before, Buffer.of(byte), after])
  const lines = name.endsWith('.bin')
    ? rowsOf(content)
    : String(content)
        .split('\n')
        .slice(0, -1)
        .map((line) => Buffer.from(`${line}\n`))
  // Additional lines and another order of lines leave these files valid.
  if (['checkpoints.jsonl', 'authority.jsonl', 'policy_sets.jsonl'].includes(name)) return content
  const [one, two] = [at % lines.length, other % lines.length]
  if (kind === 'line') lines.splice(one, 1)
  else [lines[one], lines[two]] = [lines[two] as Buffer, lines[one] as Buffer]
  return Buffer.concat(lines)
}

function rowsOf(content: Buffer): Buffer[] {
  return Array.from({ length: content.length / 32 }, (_, at) => content.subarray(32 * at, 32 * at + 32))
}

// Hostile bundles: both verifiers return the same verdict for any content, in bounded time.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { crc32, deflateRawSync } from 'node:zlib'
import {
  formatNote,
  formatVerifier,
  maxPolicyDepth,
  maxRequestDepth,
  parseNote,
  sha256Hex,
  signerOf,
  signText,
} from '@svc/proof'
import type { BundleManifest } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { packBundle } from '../../proof/attacks/pack.js'
import { World } from '../../proof/attacks/world.js'
import { bundleFiles, manifestStatement } from '../../proof/bundle/bundle.js'
import { zipLayout } from '../../proof/bundle/zip.js'
import { deepObject } from '../support/engine/odd-json.js'
import { type BundlePart, contentsOf, openAuditorFolder, partsOf, verifyWithBoth } from '../support/log/bundle.js'

const auditor = openAuditorFolder()
const oneFile = fileURLToPath(new URL('../../proof/svc-verify.mjs', import.meta.url))
afterAll(() => auditor.clear())

function worldWith(value: string): World {
  const world = new World()
  for (let step = 0; step < 3; step++) world.step('task', 'step.tool', { verb: 'GET', input: { value } })
  world.publish()
  return world
}

/** The zip with one changed file that no hash covers. */
function withFile(
  bundle: Buffer,
  name: string,
  change: (content: Buffer) => { stored: Buffer; content?: Buffer },
): Buffer {
  const parts = partsOf(bundle).map((part) => {
    if (part.entry.name !== name) return part
    const { stored, content = stored } = change(part.bytes)
    const deflated = content !== stored
    const entry = { ...part.entry, deflated, crc32: crc32(content), packed: stored.length, bytes: content.length }
    return { entry, bytes: stored }
  })
  return zipOf(parts)
}

function zipOf(parts: readonly BundlePart[]): Buffer {
  const layout = zipLayout(parts.map(({ entry }) => entry))
  const each = parts.flatMap(({ bytes }, at) => [layout.headers[at]?.bytes ?? Buffer.alloc(0), bytes])
  return Buffer.concat([...each, layout.directory.bytes])
}

async function codesOf(world: World, bundle: Buffer): Promise<string[]> {
  const { findings } = await verifyWithBoth(auditor.put('bundle.zip', bundle), world.trust(false), auditor)
  return findings.map(({ code }) => code)
}

const { manifest, signature } = bundleFiles

describe('an unchanged bundle', () => {
  it('is valid', async () => {
    const world = worldWith('\ufffd')
    expect(await codesOf(world, world.bundle())).toEqual([])
  })
})

describe('a bundle with the deepest allowed values', () => {
  const world = new World()
  const nested = (levels: number) => deepObject(levels, '"conditions"', '1e20')
  const params = (levels: number) => JSON.parse(nested(levels)) as Record<string, unknown>
  world.step('task', 'step.tool', { input: params(maxRequestDepth - 1) })
  world.leaf('incident', 'inc_1', { incident: { violation_details: { params: params(maxPolicyDepth) } } })
  world.publish()

  it('is valid for both verifiers', async () => {
    expect(await codesOf(world, world.bundle())).toEqual([])
  })

  it('is valid for the one-file verifier', () => {
    const args = [
      oneFile,
      auditor.put('deep.zip', world.bundle()),
      '--trust',
      auditor.put('deep.policy', world.trust(false)),
    ]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
})

describe('a bundle with a change that no hash covers', () => {
  const world = worldWith('x')
  const twice = (note: Buffer) => {
    const { text, signatures } = parseNote(String(note)) ?? { text: '', signatures: [] }
    return { stored: Buffer.from(formatNote({ text, signatures: [...signatures, ...signatures] })) }
  }
  it.each<[string, string, (content: Buffer) => { stored: Buffer; content?: Buffer }, string]>([
    [
      'a packed manifest with trailing bytes',
      manifest,
      (content) => ({ stored: Buffer.concat([deflateRawSync(content), Buffer.alloc(1000, 1)]), content }),
      'bytes_altered',
    ],
    ['a duplicate signature', signature, twice, 'bytes_altered'],
    ['a manifest of 30 MB', manifest, () => ({ stored: Buffer.from('{},'.repeat(10_000_000)) }), 'not_a_bundle'],
    [
      'a manifest of one long string',
      manifest,
      () => ({ stored: Buffer.from(`"${'a'.repeat(900_000)}`) }),
      'not_a_bundle',
    ],
    ['a manifest that is not UTF-8', manifest, () => ({ stored: Buffer.alloc(100, 0xff) }), 'not_a_bundle'],
    ['an empty manifest', manifest, () => ({ stored: Buffer.alloc(0) }), 'not_a_bundle'],
  ])('is not valid: %s', async (_, name, change, code) => {
    expect(await codesOf(world, withFile(world.bundle(), name, change))).toEqual([code])
  })
})

/** The bundle with one changed file, signed again. */
function resigned(world: World, name: string, change: (content: string) => string | Buffer): Buffer {
  const contents = contentsOf(world.bundle())
  const { v: _v, keys: _keys, files: _files, ...head } = JSON.parse(String(contents.get(manifest))) as BundleManifest
  return packBundle(head, new Map([...contents, [name, Buffer.from(change(String(contents.get(name))))]]), world.signer)
}
/** The first three bytes of U+FFFD replaced by invalid ones. */
const garbled = (content: string) => {
  const bytes = Buffer.from(content)
  return bytes.fill(0xff, bytes.indexOf('\ufffd'), bytes.indexOf('\ufffd') + 3)
}
const cosigned = (content: string) => {
  const note = parseNote(content) ?? { text: '', signatures: [] }
  return formatNote({ ...note, signatures: [...note.signatures, signText(note.text, witness, 9e15)] })
}
const witness = signerOf('w', 'witness', Buffer.alloc(32, 7))

describe('a bundle that the key of its log has signed', () => {
  it.each<[string, string, (content: string) => string | Buffer, string[]]>([
    ['invalid UTF-8', bundleFiles.payloads, garbled, ['not_a_bundle']],
    ['a payload with a space before it', bundleFiles.payloads, (content) => ` ${content}`, ['payload_mismatch']],
    [
      'a payload of ten million characters',
      bundleFiles.payloads,
      (content) => content.replace('{', `"${'a'.repeat(1e7)}`),
      ['payload_mismatch'],
    ],
    [
      'a record of ten million characters',
      bundleFiles.records,
      (content) => content.replace('{', `"${'a'.repeat(1e7)}`),
      ['record_mismatch', 'link_broken'],
    ],
  ])('is not valid with %s', async (_, name, change, codes) => {
    const world = worldWith('\ufffd')
    expect([...new Set(await codesOf(world, resigned(world, name, change)))]).toEqual(codes)
  })

  it('is not valid with bytes after the deflated content of a file', async () => {
    const world = worldWith('x')
    const more = deflateRawSync(Buffer.from('more'))
    for (const trailing of [Buffer.alloc(1000, 1), Buffer.alloc(100_000), more]) {
      const parts = partsOf(world.bundle())
      const [how, ...others] = parts as [BundlePart, ...BundlePart[]]
      const bytes = Buffer.concat([how.bytes, trailing])
      const listed = JSON.parse(String(contentsOf(world.bundle()).get(manifest))) as BundleManifest
      const [first, ...files] = listed.files as [BundleManifest['files'][number], ...BundleManifest['files']]
      const packed_sha256 = sha256Hex(bytes)
      const text = JSON.stringify({ ...listed, files: [{ ...first, packed: bytes.length, packed_sha256 }, ...files] })
      const statement = manifestStatement(listed.origin, sha256Hex(text))
      const note = formatNote({ text: statement, signatures: [signText(statement, world.signer)] })
      const stored = (name: string, content: string): BundlePart => {
        const own = Buffer.from(content)
        const sizes = { packed: own.length, bytes: own.length, crc32: crc32(own) }
        return { entry: { name, deflated: false, ...sizes }, bytes: own }
      }
      const grown = { entry: { ...how.entry, packed: bytes.length }, bytes }
      const all = [grown, ...others.slice(0, -2), stored(manifest, text), stored(signature, note)]
      expect(await codesOf(world, zipOf(all))).toEqual(['bytes_altered'])
    }
  })

  it('has no witness whose time is after the year 9999', async () => {
    const world = worldWith('x')
    const bundle = auditor.put('bundle.zip', resigned(world, bundleFiles.note, cosigned))
    const trust = `${world.trust(false)}witness far ${formatVerifier(witness.verifier)}\n`
    const verdict = await verifyWithBoth(bundle, trust, auditor)
    expect([verdict.valid, verdict.checkpoint?.witnesses]).toEqual([true, []])
  })
})

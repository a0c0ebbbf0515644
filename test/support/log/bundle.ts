// Bundles as an auditor gets and checks them: downloaded over HTTP, verified by the command and by the second verifier.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateRawSync } from 'node:zlib'
import type { BundleVerdict } from '@svc/schemas'
import { expect } from 'vitest'
import { contentOffsets, directoryOffset, readDirectory, type ZipEntry } from '../../../proof/bundle/zip.js'
import { parseTrustPolicy } from '../../../proof/notes/trust.js'
import { verifyBundle } from '../../../proof/verify/verify.js'
import type { TestPlatform } from '../server/platform.js'

export interface AuditorFolder {
  readonly folder: string
  /** Writes a file and returns its path. */
  readonly put: (name: string, content: string | Uint8Array) => string
  readonly clear: () => void
}

/** A temporary folder for the files of an auditor. */
export function openAuditorFolder(): AuditorFolder {
  const folder = mkdtempSync(join(tmpdir(), 'svc-auditor-'))
  return {
    folder,
    put: (name, content) => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    },
    clear: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export async function downloadBundle(platform: TestPlatform, query = ''): Promise<Buffer> {
  const headers = { authorization: `Bearer ${platform.operator_token}` }
  const response = await fetch(`${platform.url}/api/v1/log/bundle${query}`, { headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) throw new Error(`${response.status}: ${bytes.toString()}`)
  expect(response.headers.get('content-type')).toBe('application/zip')
  return bytes
}

/** A file of a bundle as the zip holds it. */
export interface BundlePart {
  readonly entry: ZipEntry
  readonly bytes: Buffer
}

export function partsOf(bundle: Buffer): BundlePart[] {
  const entries = readDirectory(bundle.subarray(directoryOffset(bundle.subarray(-22), bundle.length) ?? 0)) ?? []
  const offsets = contentOffsets(entries)
  return entries.map((entry, at) => {
    const start = offsets[at] as number
    return { entry, bytes: bundle.subarray(start, start + entry.packed) }
  })
}

/** The contents of a bundle by the names of its files. */
export function contentsOf(bundle: Buffer): Map<string, Buffer> {
  return new Map(
    partsOf(bundle).map(({ entry, bytes }) => [entry.name, entry.deflated ? inflateRawSync(bytes) : bytes]),
  )
}

const second = fileURLToPath(new URL('../../proof/verifier/verify.py', import.meta.url))
const python = spawnSync('python3', ['--version']).status === 0
if (!python) console.log('skipped: no python3 on this machine, so only one verifier runs')

interface SecondVerdict {
  readonly valid: boolean
  readonly codes: readonly string[]
  readonly entries: Readonly<Record<string, number>>
  readonly payloads: BundleVerdict['payloads']
  readonly container: BundleVerdict['container']
  readonly restarts: readonly (readonly [log_index: number, gone: number, left: string])[]
}

/** The verdict of the second verifier; null without Python. */
export function secondVerdict(bundle: string, trust: string, since: string | null = null): SecondVerdict | null {
  if (!python) return null
  const args = ['-B', second, bundle, trust, ...(since === null ? [] : [since])]
  const { stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as SecondVerdict
}

/** The verdict of the first verifier. The second verifier must report the same findings. */
export async function verifyWithBoth(
  bundle: string,
  trust_text: string,
  auditor: AuditorFolder,
  since: string | null = null,
): Promise<BundleVerdict> {
  const { value: policy, errors } = parseTrustPolicy(trust_text)
  expect(errors).toEqual([])
  const verdict = await verifyBundle({ path: bundle, policy, since })
  const kept = since === null ? null : auditor.put('since.note', since)
  const other = secondVerdict(bundle, auditor.put('trust.policy', trust_text), kept)
  if (other === null) return verdict
  const codes = [...new Set(verdict.findings.map(({ code }) => code))].sort()
  expect([other.valid, other.codes]).toEqual([verdict.valid, codes])
  if (verdict.log !== null) {
    expect(other.entries).toEqual(verdict.entries)
    expect(other.payloads).toEqual(verdict.payloads)
    expect(other.container).toBe(verdict.container)
    expect(other.restarts).toEqual(verdict.restarts.map(({ log_index, gone, left }) => [log_index, gone, left]))
  }
  return verdict
}

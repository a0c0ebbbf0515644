// `svc verify` on a terminal: reads the files, prints the verdict, and returns the exit code.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Writable } from 'node:stream'
import type { BundleVerdict } from '@svc/schemas'
import { parseTrustPolicy, type TrustPolicy, type TrustReading } from '../notes/trust.js'
import { jsonText, printable } from '../printable.js'
import { readCheckpoint } from './bundle-parts.js'
import { fileError, isFolder, readText } from './read-text.js'
import { isBundleValid, verdictText } from './text.js'
import { verifyBundle } from './verify.js'

export { type BundledEntry, type BundledText, type BundleReader, openBundle } from './read-entries.js'
export { FileError, type FileErrorCode, fileError, readText } from './read-text.js'
export { verdictText } from './text.js'
export { type VerifyRequest, verifyBundle } from './verify.js'

export interface VerifyOptions {
  readonly trust: string
  readonly since?: string
  /** The file of a report, which the log must hold as it was issued. */
  readonly report?: string
  readonly json?: boolean
}

/** The additions of a command to the verdict. */
export interface Addition {
  /** Follows the word `valid` in the first line. */
  readonly head: string
  readonly lines: readonly string[]
  readonly members: Partial<BundleVerdict>
  readonly holds: boolean
}

/** `is_valid`: the bundle, whatever was found of a report. */
export type Add = (path: string, policy: TrustPolicy, is_valid: boolean) => Promise<Addition>

export const exitCodes = 'Exit codes: 0 valid, 1 not valid, 2 usage'

/** Returns the exit code. */
export async function runVerify(
  path: string,
  options: VerifyOptions,
  out: Writable,
  err: Writable,
  add: Add | null = null,
): Promise<0 | 1 | 2> {
  try {
    const { policy, problems } = readTrust(options.trust)
    if (problems !== '') {
      err.write(problems)
      return 2
    }
    if (isFolder(path)) throw new Error(`\`${path}\` is a folder: name a bundle`)
    const since = options.since === undefined ? null : readText(options.since)
    if (since !== null && readCheckpoint(since) === null)
      throw new Error(
        `\`${options.since}\` is not a checkpoint: --since takes the checkpoint.note of an earlier bundle`,
      )
    const report = options.report === undefined ? null : await sha256Of(options.report)
    const verdict = await verifyBundle({ path, policy, since, report })
    const added = add === null ? null : await add(path, policy, isBundleValid(verdict))
    const whole = { ...verdict, ...added?.members }
    out.write(options.json ? `${jsonText(whole)}\n` : verdictText(path, verdict, added))
    return verdict.valid && added?.holds !== false ? 0 : 1
  } catch (error) {
    err.write(`svc verify: ${printable(error instanceof Error ? error.message : String(error))}\n`)
    return 2
  }
}

/** The trust policy in a file, and its errors as text, one a line. Throws FileError, and Error for a bundle. */
export function readTrust(path: string): { readonly policy: TrustPolicy; readonly problems: string } {
  const text = readText(path)
  if (text.startsWith('PK')) throw new Error(`\`${path}\` is a zip, not a trust policy: the two files may be swapped`)
  const { value: policy, errors } = parseTrustPolicy(text)
  return { policy, problems: policyErrorsText(path, errors) }
}

/** Far more than a report has: a device has no end. */
const maxReportBytes = 2 ** 30

/** SHA-256 of a file, hex. Throws FileError, and Error for what is too large for a report. */
async function sha256Of(path: string): Promise<string> {
  if (isFolder(path)) throw new Error(`\`${path}\` is a folder: name the file of a report`)
  const hash = createHash('sha256')
  let bytes = 0
  try {
    // `end` is inclusive: one byte more shows that the file goes on.
    for await (const chunk of createReadStream(path, { end: maxReportBytes, highWaterMark: 2 ** 20 })) {
      hash.update(chunk as Buffer)
      bytes += (chunk as Buffer).length
    }
  } catch (error) {
    throw fileError(path, error)
  }
  if (bytes > maxReportBytes) throw new Error(`\`${path}\` has more than 1 GiB: name the file of a report`)
  return hash.digest('hex')
}

/** Errors of a trust policy that are printed; the others are counted. */
const maxErrors = 5

function policyErrorsText(path: string, errors: TrustReading['errors']): string {
  const lines = errors.slice(0, maxErrors).map(({ line, message }) => `${path}:${line}: ${message}`)
  if (errors.length > maxErrors) lines.push(`${path}: and ${errors.length - maxErrors} more`)
  return lines.map((line) => `${printable(line)}\n`).join('')
}

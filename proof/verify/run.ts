// `svc verify` on a terminal: reads the files, prints the verdict, and returns the exit code.
import type { Writable } from 'node:stream'
import { parseTrustPolicy, type TrustReading } from '../notes/trust.js'
import { jsonText, printable } from '../printable.js'
import { readCheckpoint } from './bundle-parts.js'
import { isFolder, readText } from './read-text.js'
import { verdictText } from './text.js'
import { verifyBundle } from './verify.js'

export { FileError, type FileErrorCode, fileError, readText } from './read-text.js'
export { type VerifyRequest, verifyBundle } from './verify.js'

export interface VerifyOptions {
  readonly trust: string
  readonly since?: string
  readonly json?: boolean
}

export const exitCodes = 'Exit codes: 0 valid, 1 not valid, 2 usage'

/** Returns the exit code. */
export async function runVerify(
  path: string,
  options: VerifyOptions,
  out: Writable,
  err: Writable,
): Promise<0 | 1 | 2> {
  try {
    const text = readText(options.trust)
    if (text.startsWith('PK'))
      throw new Error(`\`${options.trust}\` is a zip, not a trust policy: the two files may be swapped`)
    const { value: policy, errors } = parseTrustPolicy(text)
    if (errors.length > 0) {
      err.write(policyErrorsText(options.trust, errors))
      return 2
    }
    if (isFolder(path)) throw new Error(`\`${path}\` is a folder: name a bundle`)
    const since = options.since === undefined ? null : readText(options.since)
    if (since !== null && readCheckpoint(since) === null)
      throw new Error(
        `\`${options.since}\` is not a checkpoint: --since takes the checkpoint.note of an earlier bundle`,
      )
    const verdict = await verifyBundle({ path, policy, since })
    out.write(options.json ? `${jsonText(verdict)}\n` : verdictText(path, verdict))
    return verdict.valid ? 0 : 1
  } catch (error) {
    err.write(`svc verify: ${printable(error instanceof Error ? error.message : String(error))}\n`)
    return 2
  }
}

/** Errors of a trust policy that are printed; the others are counted. */
const maxErrors = 5

function policyErrorsText(path: string, errors: TrustReading['errors']): string {
  const lines = errors.slice(0, maxErrors).map(({ line, message }) => `${path}:${line}: ${message}`)
  if (errors.length > maxErrors) lines.push(`${path}: and ${errors.length - maxErrors} more`)
  return lines.map((line) => `${printable(line)}\n`).join('')
}

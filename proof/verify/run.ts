// `svc verify` for a person: reads what it is given, prints the verdict, and says by its exit code what it was.
import { statSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { parseTrustPolicy } from '../notes/trust.js'
import { jsonText, printable } from '../printable.js'
import { readCheckpoint } from './bundle-parts.js'
import { readText } from './read-text.js'
import { verdictText } from './text.js'
import { verifyBundle } from './verify.js'

export { fileError, readText } from './read-text.js'
export { type VerifyRequest, verifyBundle } from './verify.js'

export interface VerifyOptions {
  readonly trust: string
  readonly since?: string
  readonly json?: boolean
}

export const exitCodes = 'Exit codes: 0 everything holds, 1 something does not, 2 usage'

/** Returns the exit code. */
export async function runVerify(
  path: string,
  options: VerifyOptions,
  out: Writable,
  err: Writable,
): Promise<0 | 1 | 2> {
  try {
    const text = readText(options.trust)
    if (text.startsWith('PK')) throw new Error(`${options.trust} is a zip and no trust policy: are the two swapped?`)
    const { value: policy, errors } = parseTrustPolicy(text)
    if (errors.length > 0) {
      const lines = errors.slice(0, mostErrors).map(({ line, message }) => `${options.trust}:${line}: ${message}`)
      if (errors.length > mostErrors) lines.push(`${options.trust}: and ${errors.length - mostErrors} more`)
      err.write(lines.map((line) => `${printable(line)}\n`).join(''))
      return 2
    }
    if (statSync(path).isDirectory()) throw new Error(`\`${path}\` is a folder: name a bundle`)
    const since = options.since === undefined ? null : readText(options.since)
    if (since !== null && readCheckpoint(since) === null)
      throw new Error(`${options.since} is no checkpoint: --since takes the checkpoint.note of an earlier bundle`)
    const verdict = await verifyBundle({ path, policy, since })
    out.write(options.json ? `${jsonText(verdict)}\n` : verdictText(path, verdict))
    return verdict.valid ? 0 : 1
  } catch (error) {
    err.write(`svc verify: ${printable(error instanceof Error ? error.message : String(error))}\n`)
    return 2
  }
}

/** What is wrong with a trust policy, as far as anybody reads. */
const mostErrors = 5

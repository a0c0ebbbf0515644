// `svc verify` for a person: reads what it is given, prints the verdict, and says by its exit code what it was.
import { accessSync, readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { parseTrustPolicy } from '../log/trust.js'
import { verdictText } from './text.js'
import { verifyBundle } from './verify.js'

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
    const { value: policy, errors } = parseTrustPolicy(readFileSync(options.trust, 'utf8'))
    if (errors.length > 0) {
      for (const { line, message } of errors) err.write(`${options.trust}:${line}: ${message}\n`)
      return 2
    }
    accessSync(path)
    const since = options.since === undefined ? null : readFileSync(options.since, 'utf8')
    const verdict = await verifyBundle({ path, policy, since })
    out.write(options.json ? `${JSON.stringify(verdict, null, 2)}\n` : verdictText(path, verdict))
    return verdict.valid ? 0 : 1
  } catch (error) {
    err.write(`svc verify: ${error instanceof Error ? error.message : String(error)}\n`)
    return 2
  }
}

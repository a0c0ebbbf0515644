// The work of `svc validate`.
import type { Writable } from 'node:stream'
import { readManifestFiles, validateFiles, validationReport } from '@svc/engine'
import { findingLines, isFailure, linesOf, totalsLine } from './findings-text.js'

export interface ValidateOptions {
  readonly strict?: true
  readonly format: 'text' | 'json'
  readonly json?: true
}

/** Returns the exit code. */
export async function runValidate(paths: readonly string[], options: ValidateOptions, out: Writable): Promise<number> {
  const files = await readManifestFiles(paths)
  const validation = validateFiles(files, { tests: 'off', now: Date.now() })
  if (options.json === true || options.format === 'json')
    out.write(`${JSON.stringify(validationReport(validation), null, 2)}\n`)
  else {
    const excerpts = linesOf(files)
    const lines = validation.findings.flatMap((finding) => findingLines(finding, excerpts))
    out.write(`${[...lines, totalsLine(validation)].join('\n')}\n`)
  }
  return isFailure(validation.findings, options.strict === true) ? 1 : 0
}

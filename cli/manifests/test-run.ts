// The work of `svc test`.
import type { Writable } from 'node:stream'
import { readManifestFiles, validateFiles } from '@svc/engine'
import { type Validation, validationReport } from '@svc/engine/parts'
import { findingLines, isFailure, linesOf } from './findings-text.js'
import { coverageLines, testLines, testTotals } from './test-text.js'

export interface TestOptions {
  readonly filter?: string
  readonly coverage?: true
  readonly requireTests?: true
  readonly strict?: true
  readonly json?: true
}

/** Returns the exit code. */
export async function runTestCommand(paths: readonly string[], options: TestOptions, out: Writable): Promise<number> {
  const { filter, coverage = false, requireTests = false } = options
  const files = await readManifestFiles(paths)
  const validation = validateFiles(files, {
    tests: requireTests ? 'required' : 'some',
    coverage,
    root: paths[0] ?? '.',
    now: Date.now(),
    ...(filter !== undefined && { filter }),
  })
  if (options.json === true) out.write(`${JSON.stringify(validationReport(validation), null, 2)}\n`)
  else out.write(`${textOf(validation, linesOf(files)).join('\n')}\n`)
  return isFailure(validation.findings, options.strict === true) ? 1 : 0
}

/** Failed tests are shown with their manifest, and untested policies in the table of the coverage. */
function textOf(validation: Validation, files: ReturnType<typeof linesOf>): string[] {
  const shown = validation.findings.filter(({ id }) => id !== 'test-failed' && id !== 'untested-policy')
  return [
    ...shown.flatMap((finding) => findingLines(finding, files)),
    ...validation.manifests.flatMap(testLines),
    ...validation.manifests.flatMap(coverageLines),
    testTotals(validation),
  ]
}

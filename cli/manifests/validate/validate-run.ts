// The work of `svc validate`.
import type { Writable } from 'node:stream'
import { readManifestFiles, validateFiles } from '@svc/engine'
import {
  annotationsOf,
  type SourceFile,
  sarifOf,
  type Validation,
  validationReport,
  workflowCommands,
} from '@svc/engine/parts'
import { jsonText } from '@svc/proof'
import { components } from '@svc/schemas'
import { findingLines, isFailure, linesOf, totalsLine } from '../findings-text.js'

export interface ValidateOptions {
  readonly strict?: true
  readonly format: 'text' | 'json' | 'github' | 'sarif'
  readonly json?: true
}

/** Returns the exit code. */
export async function runValidate(
  paths: readonly string[],
  options: ValidateOptions,
  out: Writable,
  shown: (text: string) => string,
): Promise<number> {
  const files = await readManifestFiles(paths)
  const validation = validateFiles(files, { tests: 'off', root: paths[0] ?? '.', now: Date.now() })
  const lines = linesIn(validation, files, options.json === true ? 'json' : options.format)
  if (lines.length > 0) out.write(shown(`${lines.join('\n')}\n`))
  return isFailure(validation.findings, options.strict === true) ? 1 : 0
}

function linesIn(validation: Validation, files: readonly SourceFile[], format: ValidateOptions['format']): string[] {
  const { findings } = validation
  if (format === 'json') return [JSON.stringify(validationReport(validation), null, 2)]
  if (format === 'sarif') return [jsonText(sarifOf(findings, version))]
  if (format === 'github') return workflowCommands(annotationsOf(findings), 'the format text lists all')
  const excerpts = linesOf(files)
  return [...findings.flatMap((finding) => findingLines(finding, excerpts)), totalsLine(validation)]
}

const version = components.find(({ name }) => name === 'svc')?.version ?? '0.0.0'

// Reads the manifests, analyses them, and prints what was found.
import type { Writable } from 'node:stream'
import { parseManifest, readPolicyFiles } from '@svc/engine'
import { analyse, isManifest, parseTestFile, type ReadManifest, readIfThere, testFilesOf } from '@svc/engine/parts'
import { jsonText, printable } from '@svc/proof'
import { type Checked, checkedLines } from './check-text.js'

export interface CheckOptions {
  readonly together?: true
  readonly paths?: true
  readonly strict?: true
  readonly json?: true
}

/** Returns the exit code. */
export async function runCheck(
  paths: readonly string[],
  options: CheckOptions,
  out: Writable,
  err: Writable,
): Promise<number> {
  const unreadable: string[] = []
  const found = await readPolicyFiles(paths, (error) => unreadable.push(String((error as Error).message)))
  const files = found.filter(isManifest)
  const problem = unreadable[0] ?? (files.length === 0 ? `no manifest in ${paths.join(', ')}` : null)
  if (problem !== null) {
    err.write(`svc check: ${printable(problem)}\n`)
    return 2
  }
  const manifests = files.map(({ path, text }) => readManifest(path, text))
  const invalid = manifests.flatMap(({ reading }) => reading.errors)
  for (const { file, line, column, message } of invalid)
    err.write(`${printable(`${file}:${line}:${column}: ${message}`)}\n`)
  const checked = checkedSets(manifests, options.together === true)
  out.write(options.json ? `${jsonText({ checked })}\n` : textOf(checked, options.paths === true))
  const warnings = checked.some(({ findings }) => findings.some(({ severity }) => severity === 'warning'))
  return invalid.length > 0 || (warnings && options.strict === true) ? 1 : 0
}

function readManifest(file: string, text: string) {
  const reading = parseManifest(text, file)
  const names = reading.value?.policies.map(({ name }) => name) ?? []
  const tests_beside = testFilesOf(file).flatMap(
    (path) => parseTestFile(readIfThere(path) ?? '', path, names).value ?? [],
  )
  return { file, text, reading, tests_beside }
}

function checkedSets(manifests: readonly ReadManifest[], together: boolean): Checked[] {
  const sets = together ? [manifests] : manifests.map((one) => [one])
  return sets.map((set) => ({ files: set.map(({ file }) => file), ...analyse(set) }))
}

function textOf(checked: readonly Checked[], with_paths: boolean): string {
  return `${checkedLines(checked, with_paths).map(printable).join('\n')}\n`
}

// Validates the changed manifests one after the other, so that no large change holds up other work of the process.
import { setImmediate } from 'node:timers/promises'
import { parseManifest, validateFiles } from '@svc/engine'
import {
  byPlace,
  isTestFile,
  manifestsOfTestFile,
  type SourceFile,
  testFilesOf,
  type Validation,
  type ValidationOptions,
} from '@svc/engine/parts'
import type { Side } from './changed-files.js'
import type { PolicyLines } from './facts.js'

/** Answers of policies to tests of one manifest: more take seconds. */
export const maxAnswers = 100_000

/** The same result as that of `validateFiles` for these files. */
export async function validatedSide(
  { manifests, tests }: Side,
  options: Pick<ValidationOptions, 'tests' | 'now'>,
): Promise<Validation> {
  const paths = new Set(manifests.map(({ path }) => path))
  const lone = tests.filter(({ path }) => !manifestsOfTestFile(path).some((one) => paths.has(one)))
  const groups = [...manifests.map((file) => [file, ...testsOf(file.path, tests)]), ...lone.map((file) => [file])]
  const found: Validation[] = []
  for (const group of groups) {
    await setImmediate()
    found.push(validateFiles(group, { ...options, max_answers: maxAnswers }))
  }
  return {
    manifests: found.flatMap((one) => one.manifests),
    // A change of other files has no manifest either.
    findings: found.flatMap(({ findings }) => findings.filter(({ id }) => id !== 'no-manifest')).sort(byPlace),
    skipped: found.flatMap(({ skipped }) => skipped),
  }
}

function testsOf(path: string, tests: readonly SourceFile[]): SourceFile[] {
  const names: readonly string[] = testFilesOf(path)
  return tests.filter((test) => isTestFile(test.path) && names.includes(test.path))
}

/** The line of each policy. */
export function policyLines(files: readonly SourceFile[]): PolicyLines {
  return new Map(
    files.map(({ path, text }) => {
      const { value, lines } = parseManifest(text ?? '', path)
      return [path, new Map((value?.policies ?? []).map(({ name }, index) => [name, lines[index] ?? 1]))]
    }),
  )
}

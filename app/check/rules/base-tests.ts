// The tests of the base against the new manifests: what was agreed before, and does not hold any more.
import { parseManifest, runTests } from '@svc/engine'
import {
  type ManifestTest,
  parseTestFile,
  type SourceFile,
  testFilesOf,
  type ValidatedManifest,
} from '@svc/engine/parts'
import type { Side } from '../changed-files.js'
import type { BrokenTest } from '../facts.js'
import { maxAnswers } from '../validated.js'

/** `paths`: where each manifest of the head was in the base. */
export function brokenTests(
  old: Side,
  next: Side,
  manifests: readonly ValidatedManifest[],
  pathInBase: (path: string) => string,
): BrokenTest[] {
  return manifests.flatMap(({ file, value }) => {
    if (value === null) return []
    const now = new Map(testsIn(next, file).map((test) => [test.name, keyOf(test)]))
    // A test that is still there was run by the validation of the head.
    const gone = testsIn(old, pathInBase(file)).filter((test) => now.get(test.name) !== keyOf(test))
    // More tests are not run again.
    if (gone.length * value.policies.length > maxAnswers) return []
    return runTests(value, gone).flatMap(({ name, passed, failures }): BrokenTest[] =>
      passed ? [] : [{ path: file, name, change: now.has(name) ? 'rewritten' : 'removed', failures }],
    )
  })
}

/** The tests in a manifest and beside it. */
function testsIn({ manifests, tests }: Side, path: string): ManifestTest[] {
  const own = textOf(manifests, path)
  const { value } = own === null ? { value: null } : parseManifest(own, path)
  const names = value?.policies.map(({ name }) => name) ?? []
  const beside = testFilesOf(path).flatMap((one) => {
    const text = textOf(tests, one)
    return text === null ? [] : (parseTestFile(text, one, names).value ?? [])
  })
  return [...(value?.tests ?? []), ...beside]
}

function textOf(files: readonly SourceFile[], path: string): string | null {
  return files.find((file) => file.path === path)?.text ?? null
}

function keyOf(test: ManifestTest): string {
  return JSON.stringify(test)
}

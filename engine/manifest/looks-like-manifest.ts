// Which YAML files of a folder are manifests.
import { readYaml } from './read-yaml.js'

/**
 * True for a text with `policies` at the top level, and for one that names rules: a manifest whose `policies` is misspelt or
 * cannot be read must be reported, not skipped.
 */
export function looksLikeManifest(text: string): boolean {
  // In linear time for any text, and for any style of YAML: a file that names rules is a manifest.
  if (/\brule_type\b/.test(text) || /^[ \t{]*["']?policies["']?[ \t]*:/m.test(text)) return true
  const { value } = readYaml(text)
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'policies')
}

/** True for a text with `tests` at the top level whose items expect something. */
export function looksLikeTests(text: string): boolean {
  return /^["']?tests["']?[ \t]*:/m.test(text) && /\bexpect\b/.test(text)
}

/** True for the name of a file of tests, such as `refunds.test.yaml`. */
export function isTestFile(path: string): boolean {
  return /\.test\.ya?ml$/i.test(path)
}

/** The manifests that a file of tests can be for: the same name without `.test`. */
export function manifestsOfTestFile(path: string): readonly string[] {
  const stem = path.replace(/\.test\.ya?ml$/i, '')
  return [`${stem}.yaml`, `${stem}.yml`]
}

/** The files of tests that a manifest can have beside it. */
export function testFilesOf(path: string): readonly string[] {
  const stem = path.replace(/\.ya?ml$/i, '')
  return [`${stem}.test.yaml`, `${stem}.test.yml`]
}

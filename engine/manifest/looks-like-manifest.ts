// Tells the manifests among the YAML files of a folder by their texts.
import { readYaml } from './yaml/read-yaml.js'

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

/** A file that the caller named counts as a manifest in any case. */
export function isManifest({ named, text }: { readonly named: boolean; readonly text: string | null }): boolean {
  return named || looksLikeManifest(text ?? '')
}

/** True for a text with `tests` at the top level whose items expect something. */
export function looksLikeTests(text: string): boolean {
  return /^["']?tests["']?[ \t]*:/m.test(text) && /\bexpect\b/.test(text)
}

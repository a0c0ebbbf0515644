// Which version of each policy file is in force: nothing that governs is given up for one that is wrong, or for none.
import type { DroppedPolicy, Manifest } from '@svc/schemas'
import { type ManifestError, type ManifestWarning, parseManifest } from '../manifest/parse.js'
import { readYaml } from '../manifest/read-yaml.js'
import type { PolicyFile } from './policy-files.js'
import { type Refused, refusedOf } from './refused.js'

/** A file as it was read at some time. */
export interface Version {
  readonly file: PolicyFile
  /** Its sound policies; null when it cannot be used at all. */
  readonly value: Manifest | null
  readonly refused: Refused
  /** Nothing in it is wrong. */
  readonly sound: boolean
  readonly errors: readonly ManifestError[]
  readonly warnings: readonly ManifestWarning[]
}

export type Versions = ReadonlyMap<string, Version>

export interface Settled {
  readonly versions: Versions
  /** Why an older version than the one on disk is in force; this costs no policy. */
  readonly remarks: readonly DroppedPolicy[]
}

export function readVersion(file: PolicyFile): Version {
  const reading = parseManifest(file.text, file.path)
  const { value, errors, warnings } = reading
  const refused = refusedOf(reading, file.text, file.path)
  return { file, value, refused, sound: errors.length === 0, errors, warnings }
}

/** What is in force after these files were found, by path, file by file. */
export function settle(files: readonly PolicyFile[], before: Versions): Settled {
  const versions = new Map<string, Version>()
  const remarks: DroppedPolicy[] = []
  for (const file of files) {
    const known = before.get(file.path)
    if (known === undefined && !file.named && !mayHavePolicies(file.text)) continue
    const found = readVersion(file)
    if (known === undefined || replaces(found, known)) {
      versions.set(file.path, found)
      continue
    }
    versions.set(file.path, known)
    remarks.push(...[...found.refused.policies, ...found.refused.others].map(earlierStays))
  }
  for (const [path, known] of before) {
    const moved = files.some(({ sha }) => sha === known.file.sha)
    if (versions.has(path) || moved || !governs(known)) continue
    versions.set(path, known)
    const nowhere = { policy_id: null, source: path, line: null, column: null }
    remarks.push(earlierStays({ name: path, reason: 'the file is gone or cannot be read', ...nowhere }))
  }
  return { versions, remarks }
}

/** A wrong version replaces only one that was wrong already, and only by policies: what has become invalid does not. */
function replaces(found: Version, known: Version): boolean {
  return found.sound || !governs(known) || (!known.sound && governs(found))
}

function governs({ value }: Version): boolean {
  return value !== null && value.policies.length > 0
}

function earlierStays(row: DroppedPolicy): DroppedPolicy {
  return { ...row, reason: `${row.reason} (the last sound version stays in force)` }
}

/** A file that cannot be read as YAML is taken for a manifest when it looks like one: it must not vanish silently. */
function mayHavePolicies(text: string): boolean {
  const { value, problems } = readYaml(text)
  if (problems.length > 0) return /^[\s{]*["']?policies["']?\s*:/m.test(text)
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'policies')
}

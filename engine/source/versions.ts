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

/** What files that are on disk, or were, offer and is not in effect because an older version of the file is. */
export interface Remarks {
  /** Policies that the version in effect does not have. */
  readonly dropped: readonly DroppedPolicy[]
  /** Policies whose last valid version is in effect. */
  readonly outdated: readonly DroppedPolicy[]
  /** What is no policy, such as a waiver. */
  readonly ignored: readonly DroppedPolicy[]
}

export const noRemarks: Remarks = { dropped: [], outdated: [], ignored: [] }

export interface Settled {
  readonly versions: Versions
  readonly remarks: Remarks
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
  const remarks: Remarks[] = []
  for (const file of files) {
    const known = before.get(file.path)
    if (known === undefined && !file.named && !mayHavePolicies(file.text)) continue
    const found = readVersion(file)
    if (known === undefined || replaces(found, known)) {
      versions.set(file.path, found)
      continue
    }
    versions.set(file.path, known)
    remarks.push(remarksOn(found, known))
  }
  for (const [path, known] of before) {
    const moved = files.some(({ sha }) => sha === known.file.sha)
    if (versions.has(path) || moved || !governs(known)) continue
    versions.set(path, known)
    const cause = placeless(path, path, 'the file is gone or cannot be read')
    remarks.push({ ...noRemarks, outdated: policiesOf(known).map(({ name }) => ({ ...cause, name })) })
  }
  return {
    versions,
    remarks: {
      dropped: remarks.flatMap(({ dropped }) => dropped),
      outdated: remarks.flatMap(({ outdated }) => outdated),
      ignored: remarks.flatMap(({ ignored }) => ignored),
    },
  }
}

/** What of the version found is not in effect while the one known is. */
function remarksOn({ file, value, refused }: Version, known: Version): Remarks {
  const in_effect = new Map(policiesOf(known).map((policy) => [policy.name, JSON.stringify(policy)]))
  const [cause = placeless(file.path, file.path, 'the file is not valid')] = [...refused.policies, ...refused.others]
  const reason = `another part of the file is not valid: ${cause.reason}`
  const held_back = (value?.policies ?? [])
    .filter((policy) => in_effect.get(policy.name) !== JSON.stringify(policy))
    .map(
      ({ name }): DroppedPolicy => ({ ...placeless(name, file.path, reason), line: cause.line, column: cause.column }),
    )
  // A file of which not even the names can be read has one row, in its own name.
  const unreadable = value === null && refused.policies.every(({ name }) => name === file.path)
  const own = unreadable ? [...in_effect.keys()].map((name) => ({ ...cause, name })) : refused.policies
  const rows = [...own, ...held_back]
  return {
    dropped: rows.filter(({ name }) => !in_effect.has(name)),
    outdated: rows.filter(({ name }) => in_effect.has(name)),
    ignored: unreadable ? [] : refused.others,
  }
}

function policiesOf({ value }: Version): Manifest['policies'] {
  return value?.policies ?? []
}

function placeless(name: string, source: string, reason: string): DroppedPolicy {
  return { name, reason, policy_id: null, source, line: null, column: null }
}

/** A wrong version replaces only one that was wrong already, and only by policies: what has become invalid does not. */
function replaces(found: Version, known: Version): boolean {
  return found.sound || !governs(known) || (!known.sound && governs(found))
}

function governs({ value }: Version): boolean {
  return value !== null && value.policies.length > 0
}

/** A file that cannot be read as YAML is taken for a manifest when it looks like one: it must not vanish silently. */
function mayHavePolicies(text: string): boolean {
  const { value, problems } = readYaml(text)
  if (problems.length > 0) return /^[\s{]*["']?policies["']?\s*:/m.test(text)
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'policies')
}

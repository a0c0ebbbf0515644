// The version of each policy file that is in effect: an invalid or removed file does not replace a valid version.
import type { DroppedPolicy, Manifest } from '@svc/schemas'
import type { Finding } from '../findings/finding.js'
import { isManifest } from '../manifest/looks-like-manifest.js'
import { parseManifest } from '../manifest/parse/parse.js'
import type { PolicyFile } from './policy-files.js'
import { type Rejected, rejectedOf } from './rejected.js'

/** A file as read at one time. */
export interface Version {
  readonly file: PolicyFile
  /** Its valid policies; null when the file cannot be used. */
  readonly value: Manifest | null
  readonly rejected: Rejected
  /** True when the file has no errors. */
  readonly valid: boolean
  readonly errors: readonly Finding[]
  readonly warnings: readonly Finding[]
}

export type Versions = ReadonlyMap<string, Version>

/** Parts of files that are not in effect because an older version of the file is. */
export interface Remarks {
  /** Policies that are not in the version in effect. */
  readonly dropped: readonly DroppedPolicy[]
  /** Policies whose last valid version is in effect. */
  readonly outdated: readonly DroppedPolicy[]
  /** Other parts, such as a waiver. */
  readonly ignored: readonly DroppedPolicy[]
}

export const noRemarks: Remarks = { dropped: [], outdated: [], ignored: [] }

export interface Settled {
  readonly versions: Versions
  readonly remarks: Remarks
}

function readVersion(file: PolicyFile): Version {
  const reading = parseManifest(file.text, file.path)
  const { value, errors, warnings } = reading
  const rejected = rejectedOf(reading, file.text, file.path)
  return { file, value, rejected, valid: errors.length === 0, errors, warnings }
}

/** The effective version of each file, by path. */
export function settle(files: readonly PolicyFile[], before: Versions): Settled {
  const versions = new Map<string, Version>()
  const remarks: Remarks[] = []
  for (const file of files) {
    const known = before.get(file.path)
    if (known === undefined && !isManifest(file)) continue
    const found = readVersion(file)
    if (known === undefined || replaces(found, known)) {
      const { version, outdated } = withEarlier(found, known)
      versions.set(file.path, version)
      remarks.push({ ...noRemarks, outdated })
      continue
    }
    const version = withoutRemoved(kept(known), found)
    versions.set(file.path, version)
    remarks.push(remarksOn(found, version))
  }
  for (const [path, known] of before) {
    const moved = files.some(({ sha }) => sha === known.file.sha)
    if (versions.has(path) || moved || !governs(known)) continue
    versions.set(path, kept(known))
    const cause = rowWithoutLine(path, path, 'the file was removed or cannot be read')
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

/** The version while another one is what the file offers: what was rejected of it is no longer offered. */
function kept(known: Version): Version {
  return { ...known, rejected: { policies: [], others: [], whole: false } }
}

/** The version in effect without the policies that the file no longer has; the whole version if the names cannot be read. */
function withoutRemoved(known: Version, { value, rejected }: Version): Version {
  const names = new Set([...(value?.policies ?? []), ...rejected.policies].map(({ name }) => name))
  const isUnknown = rejected.whole || [...names].some((name) => /^policies\.\d+$/.test(name))
  if (isUnknown || known.value === null) return known
  const policies = known.value.policies.filter(({ name }) => names.has(name))
  return { ...known, value: { ...known.value, policies } }
}

/** The version found; a policy that was in effect and is invalid in it stays as it was, also where the file was never valid. */
function withEarlier(found: Version, known: Version | undefined) {
  const { value, rejected } = found
  if (known === undefined || value === null) return { version: found, outdated: [] }
  const valid = new Set(value.policies.map(({ name }) => name))
  const invalid = new Set(rejected.policies.flatMap(({ name }) => (valid.has(name) ? [] : [name])))
  const earlier = policiesOf(known).filter(({ name }) => invalid.has(name))
  const names = new Set(earlier.map(({ name }) => name))
  const version = {
    ...found,
    value: { ...value, policies: [...value.policies, ...earlier] },
    rejected: { ...rejected, policies: rejected.policies.filter(({ name }) => !names.has(name)) },
  }
  return { version, outdated: rejected.policies.filter(({ name }) => names.has(name)) }
}

/** The parts of the version found that are not in effect while the known version is. */
function remarksOn({ file, value, rejected }: Version, known: Version): Remarks {
  const in_effect = new Map(policiesOf(known).map((policy) => [policy.name, JSON.stringify(policy)]))
  const [cause = rowWithoutLine(file.path, file.path, 'the file is not valid')] = [
    ...rejected.policies,
    ...rejected.others,
  ]
  const reason = `another part of the file is not valid: ${cause.reason}`
  const held = (value?.policies ?? [])
    .filter((policy) => in_effect.get(policy.name) !== JSON.stringify(policy))
    .map(
      ({ name, severity }): DroppedPolicy => ({
        ...rowWithoutLine(name, file.path, reason),
        severity,
        line: cause.line,
        column: cause.column,
      }),
    )
  // A file whose policy names cannot be read has one row with the name of the file.
  const unreadable = value === null && rejected.policies.every(({ name }) => name === file.path)
  const own = unreadable ? [...in_effect.keys()].map((name) => ({ ...cause, name })) : rejected.policies
  const rows = [...own, ...held]
  return {
    dropped: rows.filter(({ name }) => !in_effect.has(name)),
    outdated: rows.filter(({ name }) => in_effect.has(name)),
    ignored: unreadable ? [] : rejected.others,
  }
}

function policiesOf({ value }: Version): Manifest['policies'] {
  return value?.policies ?? []
}

function rowWithoutLine(name: string, source: string, reason: string): DroppedPolicy {
  return { name, reason, severity: null, policy_id: null, source, line: null, column: null }
}

/** An invalid version replaces only another invalid one, and only when it has policies. */
function replaces(found: Version, known: Version): boolean {
  return found.valid || !governs(known) || (!known.valid && governs(found))
}

function governs({ value }: Version): boolean {
  return value !== null && value.policies.length > 0
}

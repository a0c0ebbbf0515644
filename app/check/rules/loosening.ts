// The protection of agents that a change takes away, or may take away; by path.
import { type DiffReport, type FileDiff, type PolicyChange, quote, type WaiverChange } from '@svc/engine/parts'

export interface Loosening {
  readonly path: string
  /** With values in backticks, such as ``the policy `Refunds are small` is looser``. */
  readonly what: string
  /** False for a change whose direction is not known. */
  readonly is_certain: boolean
}

/** Everything that the diff reports as looser, removed, or changed without a known direction. */
export function looseningsOf({ manifests }: DiffReport): Loosening[] {
  return manifests.flatMap((diff) => {
    const found =
      diff.new === null ? [deleted(diff)] : [...diff.policies.flatMap(ofPolicy), ...diff.waivers.flatMap(ofWaiver)]
    return found.map((part) => ({ path: diff.path, ...part }))
  })
}

/** Losses that no diff shows: manifests that have left the path of an assignment, and those that nothing can be compared with. */
export function unseenLoosenings(
  moves: readonly { readonly from: string; readonly to: string }[],
  left_out: readonly string[],
  added: readonly string[],
): Loosening[] {
  const may = (path: string, what: string) => ({ path, what, is_certain: false })
  return [
    ...moves.map(({ from, to }) => may(from, `the manifest is moved to ${quote(to)}, away from its assignments`)),
    ...left_out.map((path) => may(path, 'the manifest cannot be compared with the base, which has errors')),
    ...added.map((path) => may(path, 'an assignment names the path, where the base has no manifest to compare with')),
  ]
}

type Part = Omit<Loosening, 'path'>

function deleted({ old }: FileDiff): Part {
  return { what: `the manifest ${quote(old?.name ?? '')} is deleted`, is_certain: true }
}

function ofPolicy({ name, change, members }: PolicyChange): Part[] {
  const policy = `the policy ${quote(name)}`
  if (change === 'removed') return [{ what: `${policy} is removed`, is_certain: true }]
  if (change === 'changed') return [{ what: `${policy} may be looser`, is_certain: false }]
  if (change !== 'looser') return []
  const observes = members.some((member) => member.path === 'mode' && member.new === 'observe')
  return [{ what: observes ? `${policy} only observes` : `${policy} is looser`, is_certain: true }]
}

function ofWaiver({ policy, agent_key, new: until, change }: WaiverChange): Part[] {
  if (change !== 'looser') return []
  return [{ what: `${quote(policy)} is waived for ${quote(agent_key)} until ${until}`, is_certain: true }]
}

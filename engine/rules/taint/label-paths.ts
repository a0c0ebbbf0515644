// The paths of labels as a tree, so that the label of a part does not cost a comparison with every path.
import { type Label, type Labels, leastTrusted, lessTrusted } from './labels.js'

/** The paths below a part. */
interface Branch {
  /** The label that ends here; undefined without one. */
  label?: Label
  /** The least trusted label of all paths that continue. */
  below: Label
  readonly members: Map<string, Branch>
  /** The members of a map, which a path may name without the list that they are in. */
  named: Branch | null
}

/** The label of a part, and the rest of the paths that may label parts of it. */
export interface Placed {
  readonly label: Label
  readonly open: readonly Branch[]
}

export function placed({ whole, fields }: Labels): Placed {
  if (fields.length === 0) return { label: whole, open: [] }
  const root = newBranch()
  for (const { path, label } of fields) {
    let branch = root
    for (const segment of path) branch = memberIn(branch, segment, label)
    branch.label = branch.label === undefined ? label : lessTrusted(branch.label, label)
  }
  return { label: whole, open: [root] }
}

function newBranch(): Branch {
  return { below: null, members: new Map(), named: null }
}

function memberIn(branch: Branch, segment: string, label: Label): Branch {
  const member = branch.members.get(segment) ?? newBranch()
  branch.members.set(segment, member)
  branch.below = lessTrusted(branch.below, label)
  if (/^(\*|\d+)$/.test(segment)) return member
  branch.named ??= newBranch()
  const { named } = branch
  named.named = named
  named.members.set(segment, member)
  named.below = lessTrusted(named.below, label)
  return member
}

/**
 * A deeper path takes precedence; of paths of equal depth, the one with the least trusted label. A path that names a member
 * of a list without `*` or an index means every element.
 */
export function memberOf(place: Placed, key: string, is_element: boolean): Placed {
  if (place.open.length === 0) return place
  const open: Branch[] = []
  const ends: Label[] = []
  for (const { members, named } of place.open) {
    for (const member of [members.get('*'), key === '*' ? undefined : members.get(key)]) {
      if (member === undefined) continue
      if (member.label !== undefined) ends.push(member.label)
      if (member.members.size > 0) open.push(member)
    }
    if (is_element && named !== null) open.push(named)
  }
  return { label: ends.length === 0 ? place.label : leastTrusted(ends), open }
}

/** The label of a part that cannot be divided, such as a document in JSON: it holds the parts that paths below it label. */
export function labelOfText({ label, open }: Placed): Label {
  return open.length === 0 ? label : leastTrusted([label, ...open.map(({ below }) => below)])
}

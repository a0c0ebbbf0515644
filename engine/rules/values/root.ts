// Tells if a path stays inside a folder, by its text alone (docs/design/engine.md §3): links are not followed.

interface ParsedPath {
  /** `c:`, `//server/share`, `/`, or empty for a relative path. */
  readonly root: string
  readonly segments: readonly string[]
}

/** True when the path is the root or below it; relative paths start at the root. Null when either cannot be read. */
export function isWithin(path: string, root: string): boolean | null {
  // Most paths need not be resolved, which costs ten times as much.
  if (plainPath.test(path) && plainPath.test(root)) return path === root || path.startsWith(`${root}/`)
  const base = parsePath(root)
  const target = parsePath(path)
  if (base === null || target === null) return null
  if (target.root !== '' && target.root !== base.root) return false
  // Paths with a drive ignore case.
  const fold = base.root === '' || base.root === '/' ? same : lowered
  const inside = collapsed(base.segments).map(fold)
  const reached = collapsed([...(target.root === '' ? base.segments : []), ...target.segments]).map(fold)
  return inside.every((segment, index) => reached[index] === segment)
}

/** An absolute path without special names. */
const plainPath = /^(?:\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$/

/** Null for a path with NUL, or a file URL that cannot be decoded. */
function parsePath(text: string): ParsedPath | null {
  const path = /^file:/i.test(text) ? decoded(text.slice(5)) : text
  if (path === null || path.includes('\0')) return null
  const slashed = path.replaceAll('\\', '/')
  const drive = /^([A-Za-z]):/.exec(slashed)?.[1]
  if (drive !== undefined) return { root: `${drive.toLowerCase()}:`, segments: parts(slashed.slice(2)) }
  if (slashed.startsWith('//')) {
    // `//./` and `//?/` name devices, not servers: read these two segments before any is dropped.
    const [server = '', share = '', ...rest] = slashed.split('/').filter((segment) => segment !== '')
    return { root: `//${server}/${share}`.toLowerCase(), segments: rest.filter((segment) => segment !== '.') }
  }
  return { root: slashed.startsWith('/') ? '/' : '', segments: parts(slashed) }
}

/** The path of a file URL: `//localhost` is this machine, another host is a share on it, `/C:` is a drive. */
function decoded(url: string): string | null {
  const local = url.replace(/^\/\/(localhost)?(?=\/)/i, '')
  try {
    return decodeURIComponent(local).replace(/^\/(?=[A-Za-z]:)/, '')
  } catch {
    return null
  }
}

function parts(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.')
}

/** Resolves `..`; the parent of the root is the root. */
function collapsed(segments: readonly string[]): string[] {
  const kept: string[] = []
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else kept.push(segment)
  }
  return kept
}

const same = (segment: string) => segment
const lowered = (segment: string) => segment.toLowerCase()

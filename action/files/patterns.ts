// The files of the workspace that a path or a pattern selects.
import { posix } from 'node:path'
import { isLeftOut, isYamlFile } from '@svc/engine/parts'

/** True for a path with `*` or `?`. */
export function isPattern(path: string): boolean {
  return /[*?]/.test(path)
}

/**
 * True if a file matches: `*` and `?` stay within a name, `**` is any number of folders. A wildcard in front matches no name that is
 * left out of folders; such a name is written out.
 */
export function matcherOf(pattern: string): (file: string) => boolean {
  const parts = pattern.split('/').map((part) => (part === '**' ? null : nameMatcherOf(part)))
  // At the end, `**` is any number of folders and the name of the file.
  if (parts.at(-1) === null) parts.push((name) => !isLeftOut(name))
  return (file) => matches(parts, file.split('/'))
}

/** True if files below the folder can match. */
export function entersOf(pattern: string): (folder: string) => boolean {
  const parts = pattern.split('/')
  const written = parts.filter((part) => part !== '**').map(nameMatcherOf)
  const isDeep = parts.includes('**')
  return (folder) => {
    const names = folder.split('/')
    const name = names.at(-1) ?? ''
    return (
      (isDeep || names.length < parts.length) && (!isLeftOut(name) || written.some((matchesName) => matchesName(name)))
    )
  }
}

type NameMatcher = (name: string) => boolean

function nameMatcherOf(part: string): NameMatcher {
  const body = part
    .replace(/\*+/g, '*')
    .replace(/[\\^$.|+()[\]{}/]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  const expression = new RegExp(`^${body}$`, 'su')
  return /^[*?]/.test(part) ? (name) => !isLeftOut(name) && expression.test(name) : (name) => expression.test(name)
}

/** In steps of one part for all places in the path that the parts before it can reach; null is any number of folders. */
function matches(parts: readonly (NameMatcher | null)[], names: readonly string[]): boolean {
  let reached = new Set([0])
  for (const part of parts) {
    const next = new Set<number>()
    for (const at of reached) {
      if (part === null) for (let to = at; to === at || !isLeftOut(names[to - 1] ?? '.'); to++) next.add(to)
      else if (at < names.length && part(names[at] ?? '')) next.add(at + 1)
    }
    reached = next
  }
  return reached.has(names.length)
}

/** The folder in front of the first wildcard, the folder of a YAML file, or the path itself; `.` for the workspace. */
export function folderOf(path: string): string {
  if (!isPattern(path)) return isYamlFile(path) ? posix.dirname(path) : path
  const parts = path.split('/')
  const plain = parts.slice(
    0,
    parts.findIndex((part) => isPattern(part)),
  )
  return plain.join('/') || '.'
}

/** True if a file is selected: by its own path, by a folder as `svc validate` reads it, or by a pattern. */
export function selectorOf(paths: readonly string[], isWanted: (file: string) => boolean): (file: string) => boolean {
  const selectors = paths.map((path) => {
    if (isPattern(path)) {
      const matchesPattern = matcherOf(path)
      return (file: string) => isWanted(file) && matchesPattern(file)
    }
    const folder = path === '.' ? '' : `${path}/`
    const isInFolder = (file: string) =>
      file.startsWith(folder) && isWanted(file) && !file.slice(folder.length).split('/').some(isLeftOut)
    return (file: string) => file === path || isInFolder(file)
  })
  return (file) => selectors.some((selects) => selects(file))
}

// Which files of the workspace a path or a pattern selects.

/** True for a path with `*` or `?`. */
export function isPattern(path: string): boolean {
  return /[*?]/.test(path)
}

/**
 * Whether a file matches: `*` and `?` stay within a name, `**` is any number of folders. A wildcard matches no name that begins
 * with a dot; such a name is written out.
 */
export function matcherOf(pattern: string): (file: string) => boolean {
  const parts = pattern.split('/').filter((part, index, all) => part !== '**' || all[index + 1] !== '**')
  const whole = parts.map((part, index) => expressionOf(part, index === parts.length - 1)).join('')
  const expression = new RegExp(`^${whole}$`, 'su')
  return (file) => expression.test(file)
}

const name = '(?!\\.)[^/]+'

function expressionOf(part: string, is_last: boolean): string {
  if (part === '**') return is_last ? `(?:${name}/)*${name}` : `(?:${name}/)*`
  const start = /^[*?]/.test(part) ? '(?!\\.)' : ''
  const body = part
    .replace(/\*+/g, '*')
    .replace(/[\\^$.|+()[\]{}/]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]')
  return `${start}${body}${is_last ? '' : '/'}`
}

/** The folder in front of the first wildcard; `.` for the workspace. */
export function folderOf(pattern: string): string {
  const parts = pattern.split('/')
  const plain = parts.slice(
    0,
    parts.findIndex((part) => isPattern(part)),
  )
  return plain.join('/') || '.'
}

/** Whether a file is selected: by its own path, by a folder as `svc validate` reads it, or by a pattern. */
export function selectorOf(paths: readonly string[], extension: RegExp): (file: string) => boolean {
  const selectors = paths.map((path) => {
    if (isPattern(path)) return matcherOf(path)
    const folder = path === '.' ? '' : `${path}/`
    return (file: string) =>
      file === path || (file.startsWith(folder) && extension.test(file) && !/(^|\/)\./.test(file.slice(folder.length)))
  })
  return (file) => selectors.some((selects) => selects(file))
}

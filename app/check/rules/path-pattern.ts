// Patterns of paths as CODEOWNERS has them, matched without regular expressions: no pattern takes more than a product of lengths.

/** True if the pattern covers the file: itself, or a folder that it is in. */
export function matchesPath(pattern: string, path: string): boolean {
  const isFolder = pattern.endsWith('/')
  const body = pattern.replace(/^\/+/, '').replace(/\/+$/, '')
  if (body === '') return pattern !== ''
  const isAnchored = pattern.startsWith('/') || body.includes('/')
  const segments = [...(isAnchored ? [] : ['**']), ...body.split('/')]
  // `docs/*` covers the files of the folder, and none of the folders in it.
  const covers = isFolder ? inFolder : isAnchored && segments.at(-1) === '*' ? exactly : within
  return matchesSegments([...segments, ...covers], path.split('/'))
}

/** One segment or more. */
const inFolder = ['*', '**']
const exactly: readonly string[] = []
const within = ['**']

function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  return matchesWith(pattern, path, '**', matchesSegment)
}

function matchesSegment(pattern: string, segment: string): boolean {
  const isSame = (one: string, character: string) => one === '?' || one === character
  return matchesWith([...pattern.replace(/\*+/g, '*')], [...segment], '*', isSame)
}

/** Only the last wildcard is taken back: what an earlier one could take instead, the later one can take too. */
function matchesWith(
  pattern: readonly string[],
  items: readonly string[],
  wildcard: string,
  isSame: (part: string, item: string) => boolean,
): boolean {
  let [at, part, last, taken] = [0, 0, -1, 0]
  while (at < items.length) {
    const wanted = pattern[part]
    if (wanted === wildcard) {
      last = part
      taken = at
      part += 1
    } else if (wanted !== undefined && isSame(wanted, items[at] ?? '')) {
      part += 1
      at += 1
    } else {
      if (last < 0) return false
      taken += 1
      at = taken
      part = last + 1
    }
  }
  return pattern.slice(part).every((wanted) => wanted === wildcard)
}

/** The known name nearest to `name`, or null if no name is near enough. */
export function nearest(name: string, known: Iterable<string>): string | null {
  const candidates = [...known]
  let best: { name: string; distance: number } | null = null
  for (const candidate of candidates) {
    const distance = editDistance(singular(name.slice(0, 100).toLowerCase()), singular(candidate.toLowerCase()))
    if (best === null || distance < best.distance) best = { name: candidate, distance }
  }
  if (best !== null && best.distance <= Math.max(2, Math.floor(name.length / 4))) return best.name
  // `type` is short for `step_type` where no other key ends so.
  const [longer, ...others] = candidates.filter((candidate) => name !== '' && candidate.endsWith(`_${name}`))
  return longer !== undefined && others.length === 0 ? longer : null
}

/** A question that ends an error message; empty when no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const near = nearest(name, known)
  return near === null ? '' : `; did you mean \`${near}\`?`
}

/** The singular form, so that `policy` and `policies` are the same word. */
function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '')
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

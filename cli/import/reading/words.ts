// Numbers and lists in sentences.

/** Words with commas and, before the last, `word`. */
export function listed(words: readonly string[], word: 'and' | 'or'): string {
  const [last = '', ...others] = words.toReversed()
  return others.length === 0 ? last : `${others.toReversed().join(', ')} ${word} ${last}`
}

/** A count with its noun. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

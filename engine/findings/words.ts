// Numbers and lists in sentences.

/** `1 agent`, `3 agents`, `2,904 steps`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

interface ListOptions {
  readonly max?: number
  readonly last?: 'and' | 'or'
}

/** `a`, `a and b`, `a, b and 3 more`. */
export function listed(words: readonly string[], { max = 5, last = 'and' }: ListOptions = {}): string {
  const more = words.length - max
  const shown = more > 0 ? [...words.slice(0, max), `${more} more`] : words
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${last} ${shown.at(-1)}`
}

/** Words at the beginning of a sentence or a cell. */
export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

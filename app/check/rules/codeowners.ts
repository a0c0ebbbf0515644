// Who owns which path, by the file CODEOWNERS: the last line that matches counts, and a line without owners removes them.
import { matchesPath } from './path-pattern.js'

/** The places of the file, in the order in which GitHub looks for it. */
export const codeownersPaths = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'] as const

export interface Owners {
  /** Logins in lower case. */
  readonly users: readonly string[]
  /** Teams and mail addresses: whose they are cannot be read. */
  readonly unresolved: readonly string[]
}

export interface Codeowners {
  readonly ownersOf: (path: string) => Owners
}

interface Line extends Owners {
  readonly pattern: string
}

/** Reads the text of the file; null for a repository without it. GitHub skips lines that it cannot read, and so does this. */
export function readCodeowners(text: string | null): Codeowners {
  const lines = (text ?? '').split(/\r?\n/).flatMap((line) => lineOf(line) ?? [])
  lines.reverse()
  return {
    ownersOf: (path) => {
      const { users, unresolved } = lines.find(({ pattern }) => matchesPath(pattern, path)) ?? noOwners
      return { users, unresolved }
    },
  }
}

const noOwners: Owners = { users: [], unresolved: [] }

function lineOf(text: string): Line | null {
  const words = wordsOf(text)
  const [pattern, ...owners] = words
  if (pattern === undefined || isUnsupported(pattern) || !owners.every(isOwner)) return null
  const isUser = (owner: string) => /^@[^/]+$/.test(owner)
  return {
    pattern,
    users: owners.filter(isUser).map((owner) => owner.slice(1).toLowerCase()),
    unresolved: owners.filter((owner) => !isUser(owner)),
  }
}

/** The words of a line up to its comment; a backslash before a space makes it part of a word. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:\\.|[^\s\\])+/g) ?? []
  const comment = words.findIndex((word) => word.startsWith('#'))
  return (comment < 0 ? words : words.slice(0, comment)).map((word) => word.replace(/\\ /g, ' '))
}

function isUnsupported(pattern: string): boolean {
  return pattern.startsWith('!') || /[[\]\\]/.test(pattern)
}

function isOwner(word: string): boolean {
  return /^@[\w-]+(\[bot\])?(\/[\w.-]+)?$|^[^@\s]+@[^@\s]+$/.test(word)
}

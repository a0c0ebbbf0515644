// The names that Git allows for a branch (git-check-ref-format).

/** Why the text cannot be the name of a branch; null for a valid name. */
export function branchProblem(name: string): string | null {
  if (name === '') return 'the branch is empty'
  if (Buffer.byteLength(name) > 250) return 'the branch has more than 250 bytes'
  if (name.startsWith('-')) return 'the branch must not begin with `-`'
  if (/[\p{Cc}\p{Cs} ~^:?*[\\]/u.test(name))
    return 'the branch must not contain spaces, control characters or `~^:?*[\\`'
  if (name === '@' || name.includes('@{') || name.includes('..')) return 'the branch must not contain `..` or `@{`'
  const parts = name.split('/')
  if (parts.some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock')) || name.endsWith('.'))
    return 'no part of the branch may be empty, begin or end with `.`, or end with `.lock`'
  return null
}

// Ids of repositories, assignments and policies.

/** The id in a path: a whole number of a workspace. Null for a text that no id has. */
export function idIn(text: string): number | null {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null
}

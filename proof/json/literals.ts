// Finds the ends of strings in JSON text, and tells which of them are names.

const quoteMark = 0x22
const backslash = 0x5c

/** Offset of the closing quote of the string that begins at `start`; -1 without one. */
export function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quoteMark) return index
    if (code === backslash) index++
  }
  return -1
}

/** True if the text continues with a colon: the string before it is the name of a member. */
export function isName(text: string, from: number): boolean {
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) continue
    return code === 0x3a
  }
  return false
}

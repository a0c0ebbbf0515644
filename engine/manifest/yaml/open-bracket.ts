// Finds an unclosed bracket.

/** Offset of the innermost flow bracket, `[` or `{`, that is open at an offset of the text; null without one. */
export function openBracket(text: string, end: number): number | null {
  const open: number[] = []
  for (let at = 0; at < end; at++) {
    const character = text[at] ?? ''
    // A quote, bracket or comment begins where a value may begin; elsewhere it is a character of a plain scalar.
    const starts = at === 0 || /[\s,:[{\]}-]/.test(text[at - 1] ?? '')
    if (character === '#' && /^\s?$/.test(text[at - 1] ?? '')) at = endOf(text, '\n', at, end)
    else if ((character === '"' || character === "'") && starts) at = closingQuote(text, at, end)
    else if ((character === '[' || character === '{') && (starts || open.length > 0)) open.push(at)
    else if (character === ']' || character === '}') open.pop()
  }
  return open.at(-1) ?? null
}

function endOf(text: string, mark: string, from: number, end: number): number {
  const found = text.indexOf(mark, from)
  return found < 0 ? end : found
}

function closingQuote(text: string, from: number, end: number): number {
  const mark = text[from]
  for (let at = from + 1; at < end; at++) {
    if (mark === '"' && text[at] === '\\') at++
    else if (text[at] === mark) {
      if (mark === '"' || text[at + 1] !== mark) return at
      at++
    }
  }
  return end
}

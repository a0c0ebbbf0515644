// Untrusted text in Markdown, as GitHub renders it: a name from a manifest shows as it is written, and starts nothing.

/** No character of a name ends the line; other control characters, those that change the direction of text, and tags are replaced. */
function onOneLine(text: string): string {
  return text.replace(/[\s\p{Zl}\p{Zp}]+/gu, ' ').replace(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u{E0000}-\u{E007F}]/gu, '�')
}

/** Takes no room. After `@`, `#`, `:` and within ids it prevents mentions, references and emoji, which are found in the rendered text. */
const joiner = '\u2060'

function withoutReferences(text: string): string {
  return text
    .replace(/(?<=[@#])(?=[\p{L}\p{N}_+-])|(?<=:)(?=[\p{L}\p{N}_+-]+:)|(?<=\bgh-)(?=\d)/giu, joiner)
    .replace(/(?<![a-z0-9_])[0-9a-f]{7,64}(?![a-z0-9_])/gi, withoutCommit)
}

/** GitHub links what is written like the id of a commit, seven digits or more: no longer part is left. Numbers and words stay. */
function withoutCommit(id: string): string {
  const isCommit = id.length >= 40 || (/\d/.test(id) && /[a-f]/i.test(id))
  // Every part is shorter than an id: of 41 digits the last 40 would be one.
  return isCommit ? id.replace(/.{6}(?=.)/g, `$&${joiner}`) : id
}

/** The text as running text, also in a cell of a table. Only what would mean something is escaped. */
export function markdownText(text: string): string {
  return withoutReferences(onOneLine(text).trim())
    .replace(/[\\`*_[\]<>|~&$@#]/g, '\\$&')
    .replace(/^(\d+)(?=[.)])/, '$1\\')
    .replace(/^[-+=]/, '\\$&')
    .replace(/:(?=\/)|(?<=www)\./gi, '\\$&')
}

/** The text as code, also in a cell of a table. */
export function markdownCode(text: string): string {
  const line = onOneLine(text)
  // A table ends its cell at `|`, also within backticks.
  if (line === '' || line.includes('|'))
    return `<code>${withoutReferences(line).replace(/[!-/:-@[-`{-~]/g, entity)}</code>`
  const longest = (line.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 0)
  const fence = '`'.repeat(longest + 1)
  // One space on each side is taken away when both are there.
  const isPadded = /^`|`$/.test(line) || (/^ .* $/.test(line) && line.trim() !== '')
  return isPadded ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}

function entity(character: string): string {
  return `&#${character.charCodeAt(0)};`
}

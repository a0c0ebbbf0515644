// Text that people write and read. A hidden character shows nothing, or changes how the text around it is shown, so that a reader
// sees another text than the one that is stored. PostgreSQL stores no NUL.

const plain = /^[ -~]*$/
const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/u
/** Between emojis, after an emoji, and in scripts whose letters they join: parts of what is shown. */
const joined =
  /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)\u200D(?=\p{Extended_Pictographic})|(?<=\p{Emoji})\uFE0F|(?<=[\u0600-\u07FF\u0900-\u109F\u1780-\u17FF])[\u200C\u200D](?=\p{L})/gu
const breaks = /\r\n|[\n\t]/g

/** The first hidden character as `U+200B`; null without one. `format`: a line, or lines with line breaks and tabs. */
export function hiddenCharacter(text: string, format: TextFormat): string | null {
  if (plain.test(text)) return null
  const found = hidden.exec((format === 'lines' ? text.replaceAll(breaks, ' ') : text).replaceAll(joined, ''))
  const code = found?.[0].codePointAt(0)
  return code === undefined ? null : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The values of `format` in the schemas for text without hidden characters. */
export const textFormats = ['line', 'lines'] as const

export type TextFormat = (typeof textFormats)[number]

// Makes text from outside safe for a terminal.

/** The text without control characters and without characters that change its direction. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '�')
}

/** JSON whose control characters are escaped, so that a terminal can print it. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(
    /[^\P{Cc}\n]|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The message of an error for a terminal; its line breaks are kept. */
export function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return `svc: ${message.split('\n').map(printable).join('\n')}`
}

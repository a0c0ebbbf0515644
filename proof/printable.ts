// Text of strangers on somebody's terminal.

/** Text from outside without what a terminal would act on. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '�')
}

/** JSON for programs that a terminal shows as it is. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(
    /[^\P{Cc}\n]|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** What went wrong, a line for each sentence of it. */
export function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return `svc: ${message.split('\n').map(printable).join('\n')}`
}

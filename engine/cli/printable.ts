// Text of strangers on somebody's terminal.

/** Text from outside without what a terminal would act on. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '�')
}

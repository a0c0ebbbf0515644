import { isRfc3339 } from '@svc/schemas'

/** The time of an option; a day is its first moment in UTC. Throws for other text. */
export function timeOption(option: string, text: string | undefined): string | undefined {
  const time = text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
  if (time === undefined || isRfc3339(time)) return time
  throw new Error(
    `\`${option}\` is \`${text}\`: write a day, such as 2026-01-01, or a time with its zone, such as 2026-01-01T09:00:00Z`,
  )
}

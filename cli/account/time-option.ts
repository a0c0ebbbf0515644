import { isoTime, isRfc3339 } from '@svc/schemas'

const day = /^\d{4}-\d\d-\d\d$/

/** The time of an option; a day is its first moment in UTC. Throws for other text. */
export function timeOption(option: string, text: string | undefined): string | undefined {
  const time = text !== undefined && day.test(text) ? `${text}T00:00:00Z` : text
  if (time === undefined || isRfc3339(time)) return time
  throw new Error(
    `\`${option}\` is \`${text}\`: write a day, such as 2026-01-01, or a time with its zone, such as 2026-01-01T09:00:00Z`,
  )
}

/** The exclusive end that an option names: for a day, the first moment of the next one in UTC. Throws for other text. */
export function endOption(option: string, text: string | undefined): string | undefined {
  const time = timeOption(option, text)
  if (time === undefined || text === undefined || !day.test(text)) return time
  return isoTime(Date.parse(time) + 86_400_000).replace('.000', '')
}

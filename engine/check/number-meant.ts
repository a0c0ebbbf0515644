// The number that a text probably means, such as `1'000`, `5k`, `EUR 5000`, `8am`, or `1h` where seconds are expected.

/** Seconds of a unit of time, by its first letters. */
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
const unit = /^(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$/i

/** The number; null where the text has none, several, or one that could be read in two ways. `name` is the key that has the value. */
export function numberMeant(text: string, name: string): number | null {
  const trimmed = text.trim()
  if (trimmed !== '' && Number.isFinite(Number(trimmed))) return Number(trimmed)
  return (
    (name.endsWith('_seconds') ? secondsIn(trimmed) : null) ??
    (name.endsWith('_hour') ? hourIn(trimmed) : null) ??
    amountIn(trimmed)
  )
}

/** The seconds of `1h`, `90 min`, `1h30m` or `PT1H`. */
function secondsIn(text: string): number | null {
  const parts = [...text.replace(/^P(\d+D)?T?/i, '$1').matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gi)]
  const whole = parts.map(([part]) => part).join('')
  if (parts.length === 0 || whole.length !== text.replace(/^P(\d+D)?T?/i, '$1').length) return null
  if (!parts.every(([, , word = '']) => unit.test(word))) return null
  return parts.reduce(
    (sum, [, count, word = '']) => sum + Number(count) * (units[(word[0] ?? '').toLowerCase()] ?? 0),
    0,
  )
}

/** The hour of `08:00`, `8am` or `6 pm`. */
function hourIn(text: string): number | null {
  const [, hour, half] = /^(\d{1,2})(?::00)?\s*([ap])?\.?m?\.?$/i.exec(text) ?? []
  if (hour === undefined) return null
  if (half === undefined) return Number(hour)
  return (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}

const groups = /^\d{1,3}(?:(['’_ \u00a0\u202f,])\d{3})(?:\1\d{3})*(?:\.\d+)?$/

/** The number of `1'000`, `5k`, `3 steps` or `EUR 5000`. */
function amountIn(text: string): number | null {
  const [, before = '', digits = '', after = ''] = /^([^\d-]*)(\d(?:[\d'’_ \u00a0\u202f,.]*\d)?)(.*)$/.exec(text) ?? []
  // 1.000 is a thousand in some countries; `50 %`, `1h` and `5 thousand` are other amounts than 50, 1 and 5.
  if (digits === '' || /^\d{1,3}(\.\d{3})+$/.test(digits) || !isWords(before) || !isCounted(after)) return null
  const number = groups.test(digits) ? Number(digits.replace(/['’_ \u00a0\u202f,]/g, '')) : Number(digits)
  if (!Number.isFinite(number)) return null
  return /^k$/i.test(after) ? number * 1000 : number
}

/** A currency before a number. */
function isWords(text: string): boolean {
  return /^(\p{Sc}|[A-Z]{3})?\s*$/u.test(text)
}

/** Nothing, a currency, `k`, or what is counted. */
function isCounted(text: string): boolean {
  return /^(k|\s*(\p{Sc}|[A-Z]{3}|steps?|calls?|times|items?|characters?)?)$/u.test(text)
}

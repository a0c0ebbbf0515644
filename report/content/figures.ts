// Numbers, times and durations in words: the same on every machine, whatever its language and time zone.
import type { Effect } from '@svc/schemas'

/** With commas between thousands. */
export function count(value: number): string {
  const [whole = '', fraction] = String(value).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** Such as `1 step` and `12,360 steps`; zero is `no steps`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  if (value === 0) return `no ${many}`
  return `${count(value)} ${value === 1 ? one : many}`
}

/** A part of a total in percent, with one digit; never 0 % or 100 % unless it is exactly that. */
export function share(part: number, total: number, round = Math.round): string {
  if (total === 0) return '–'
  if (part === 0) return '0 %'
  if (part === total) return '100 %'
  const percent = (100 * part) / total
  if (percent < 0.1) return 'less than 0.1 %'
  if (percent > 99.9) return 'more than 99.9 %'
  return `${(round(percent * 10) / 10).toFixed(1)} %`
}

const months = 'January February March April May June July August September October November December'.split(' ')

/** A day in words, in UTC; what is not a time stays as it is. */
export function day(time: string): string {
  const [, year, month, date] = /^(\d{4,})-(\d\d)-(\d\d)T/.exec(time) ?? []
  const name = months[Number(month) - 1]
  return name === undefined ? time : `${Number(date)} ${name} ${year}`
}

/** `2026-03-05 10:00:07`, in UTC. */
export function moment(time: string): string {
  const [, date, clock] = /^(\d{4,}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(time) ?? []
  return date === undefined || clock === undefined ? time : `${date} ${clock}`
}

/** A period in words, both ends included where they are whole days. */
export function period({ from, to }: { readonly from: string; readonly to: string }): string {
  const isWhole = [from, to].every((time) => /T00:00:00(\.0+)?Z$/.test(time))
  if (!isWhole) return `${moment(from)} to ${moment(to)} (UTC)`
  const last = day(new Date(Date.parse(to) - 1).toISOString())
  return day(from) === last ? last : `${day(from)} to ${last}`
}

const units = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3_600 },
  { name: 'min', seconds: 60 },
  { name: 's', seconds: 1 },
]

/** The two largest units, such as `1 d 4 h`; rounded down. */
export function duration(seconds: number): string {
  const first = units.findIndex((unit) => seconds >= unit.seconds)
  if (first === -1) return '0 s'
  let rest = seconds
  const parts = units.slice(first, first + 2).map(({ name, seconds: size }) => {
    const amount = Math.floor(rest / size)
    rest -= amount * size
    return amount === 0 ? '' : `${count(amount)} ${name}`
  })
  return parts.filter((part) => part !== '').join(' ')
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

/** Items with a separator between them, as the parts of one text. */
export const separated = (items: readonly string[], separator = ', '): string[] =>
  items.flatMap((item, index) => (index === 0 ? [item] : [separator, item]))

/** Counts by name: the highest first, then by name. */
export const sortedByCount = (counts: Readonly<Record<string, number>>): [name: string, count: number][] =>
  Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))

/** The effects in words. */
export const effectWord: Readonly<Record<Effect, string>> = {
  executed: 'executed',
  blocked: 'stopped before it ran',
  unknown: 'no record of whether it ran',
}

/** A sentence begins with a capital letter. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The word for one, or for several. */
export const are = (value: number, one: string, many: string) => (value === 1 ? one : many)
/** `none` or the number. */
export const some = (value: number) => (value === 0 ? 'none' : count(value))
/** Sentences; empty ones are left out. */
export const joined = (...sentences: readonly string[]) => sentences.filter((each) => each !== '').join(' ')

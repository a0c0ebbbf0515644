// Pieces of HTML. Every text is escaped here or by a template: texts come from agents and people.
import Handlebars from 'handlebars'

/** HTML that is safe to put into a page. */
export type Html = Handlebars.SafeString

const templates = Handlebars.create()
const escaped = Handlebars.escapeExpression

/** A Handlebars template; a value that the template names and the caller does not give is an error. */
export function template(source: string): (values: object) => string {
  return templates.compile(source, { strict: true })
}

/** A template as a piece of another page. */
export function piece(source: string): (values: object) => Html {
  const fill = template(source)
  return (values) => new Handlebars.SafeString(fill(values))
}

function made(html: string): Html {
  return new Handlebars.SafeString(html)
}

export const nothing = made('')

/** Text in its own direction, so that right-to-left characters cannot reorder what stands around it. */
export function text(value: string | number | null | undefined): Html {
  return made(value === null || value === undefined || value === '' ? '' : `<bdi>${escaped(String(value))}</bdi>`)
}

/** A mail address: where its line is too short, it breaks after the @ and not within a word. */
export function mailAddress(value: string): Html {
  return made(`<bdi>${escaped(value).replaceAll('@', '@<wbr>')}</bdi>`)
}

export function joined(pieces: readonly Html[], between = ' '): Html {
  return made(pieces.map((one) => one.toHTML()).join(between))
}

/** A link to a page of the platform. */
export function link(href: string, label: string | number | Html): Html {
  const inner = typeof label === 'object' ? label : text(label)
  return made(`<a href="${escaped(ownAddress(href))}">${inner.toHTML()}</a>`)
}

/** Addresses of other origins, and such as `javascript:`, lead nowhere. */
function ownAddress(href: string): string {
  return /^(\/(?![/\\])|#|\?)/.test(href) ? href : '#'
}

/** A link to another site, whose address must be `https:`. Text without one. */
export function outside(href: string | null, label: string): Html {
  if (href === null || !/^https:\/\/[^\s]+$/.test(href)) return text(label)
  return made(`<a href="${escaped(href)}" rel="noopener noreferrer external">${escaped(label)}</a>`)
}

/** An id, which a button copies. */
export function id(value: string | number, href: string | null = null): Html {
  const shown = href === null ? text(value) : link(href, value)
  const name = escaped(String(value))
  return made(
    `<span class="id"><code>${shown.toHTML()}</code><button type="button" class="copy" data-copy="${name}" aria-label="Copy ${name}" hidden></button></span>`,
  )
}

/** A hash or a SHA by its first characters; the button copies it whole. */
export function hash(value: string | null, length = 12): Html {
  if (value === null || value === '') return nothing
  const whole = escaped(value)
  return made(
    `<span class="id"><code title="${whole}">${escaped(value.length > length ? `${value.slice(0, length)}…` : value)}</code><button type="button" class="copy" data-copy="${whole}" aria-label="Copy ${whole}" hidden></button></span>`,
  )
}

/** A time in UTC; a script shows it in the time zone of the browser, and UTC on hover. */
export function time(value: string | null | undefined): Html {
  if (value === null || value === undefined || value === '') return nothing
  const known = Date.parse(value)
  if (Number.isNaN(known)) return text(value)
  const iso = new Date(known).toISOString()
  const shown = iso.replace(/^(\S{10})T(\S{8}).*$/, '$1 $2 UTC')
  return made(`<time datetime="${iso}" title="${shown}">${shown}</time>`)
}

export type Tone = 'red' | 'orange' | 'yellow' | 'green' | 'blue' | 'azure' | 'secondary'

export function badge(label: string, tone: Tone = 'secondary'): Html {
  return made(`<span class="badge bg-${tone}-lt">${escaped(label)}</span>`)
}

const severityTones: Readonly<Record<string, Tone>> = { critical: 'red', high: 'orange', medium: 'yellow', low: 'blue' }

export function severity(value: string): Html {
  return badge(value, severityTones[value])
}

const stateTones: Readonly<Record<string, Tone>> = {
  open: 'red',
  active: 'orange',
  resolved: 'green',
  ignored: 'secondary',
  error: 'red',
  running: 'blue',
  completed: 'green',
}

/** The state of an incident as people read it. */
export function stateText(value: string): string {
  return value === 'active' ? 'in review' : value
}

/** The state of a task or an incident. */
export function state(value: string): Html {
  return badge(stateText(value), stateTones[value])
}

/** The effect of a violation, in words for people. */
export const effectTexts: Readonly<Record<string, string>> = {
  executed: 'executed',
  blocked: 'stopped before it ran',
  unknown: 'not known',
}

export function number(value: number): string {
  return value.toLocaleString('en')
}

/** A length of time in its two largest units. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  const days = Math.floor(hours / 24)
  return hours % 24 === 0 ? `${number(days)} days` : `${number(days)} days ${hours % 24} h`
}

/** `1 step`, `2 steps`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`
}

/** Like `counted`, with a word for none: `no steps`. */
export function countedOrNone(value: number, one: string, many = `${one}s`): string {
  return value === 0 ? `no ${many}` : counted(value, one, many)
}

/** A sentence of ours in which backticks mark code. */
export function ticked(sentence: string): Html {
  const parts = sentence
    .split('`')
    .map((part, index) => (index % 2 === 1 ? `<code>${escaped(part)}</code>` : escaped(part)))
  return made(parts.join(''))
}

/** The characters of a value that a page shows; the API returns it whole. */
const maxJson = 20_000

/** A value as indented JSON; a long one is cut, and says so. */
export function json(value: unknown, max = maxJson): Html {
  const whole = JSON.stringify(value, null, 2) ?? ''
  const rest = whole.length - max
  const shown = rest > 0 ? `${whole.slice(0, max)}\n… ${counted(rest, 'character')} more` : whole
  return made(`<pre class="json" tabindex="0"><code>${escaped(shown)}</code></pre>`)
}

// One view of a page: the person, the address, the form that was sent, and what is shown.
import type { FieldError } from '../errors.js'
import type { PersonPrincipal } from '../http/principal.js'
import type { Query } from '../http/query.js'
import type { Api } from './api.js'

/** One view of a page by a signed-in person. */
export interface Visit {
  readonly api: Api
  /** A read that several parts of the page need, done once for this view; `key` names it. */
  readonly once: <T>(key: string, read: () => Promise<T>) => Promise<T>
  readonly person: PersonPrincipal
  readonly email: string
  /** The path of the page, without a query. */
  readonly path: string
  /** The whole address of the page, with its query. */
  readonly here: string
  readonly params: Readonly<Record<string, string>>
  /** Values of the address; repeated ones with commas. */
  readonly query: Query
  /** Values of the form that was rejected; empty for a page that is only read. */
  readonly form: Fields
  /** Fields that the rejected form has wrong. */
  readonly errors: readonly FieldError[]
  /** The token that the forms of the page send. */
  readonly csrf: string
  /** ms since the epoch */
  readonly now: number
  /** The address at which programs reach the platform. */
  readonly url: string
}

/** The values of a form by name. */
export type Fields = Readonly<Record<string, readonly string[]>>

/** What a page shows: its title, and its content as HTML. */
export interface Shown {
  readonly title: string
  readonly content: string
  /** The entry of the navigation that it belongs to. */
  readonly place?: string
}

/** An act of a form: returns the address to go to next, or what to show. */
export type Act = (visit: Visit, form: Fields) => Promise<string | Shown>

/** The first value of a field of a form; '' without one. */
export function field(form: Fields, name: string): string {
  return form[name]?.[0] ?? ''
}

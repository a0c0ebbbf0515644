// A page as data: its address, what it shows, and what its forms do; and the function that gives the pages to Express.
import express, { type Request, type Response, Router } from 'express'
import { errorTable, PlatformError } from '../errors.js'
import { rejectOtherOrigins } from '../http/client.js'
import { disconnection } from '../http/download.js'
import { rejectUnprintable } from '../http/path-id.js'
import type { Query } from '../http/query.js'
import { signInAddress, type Visitor, visitorOf } from './browser.js'
import { themeIn } from './cookies.js'
import { sendDownload } from './lists/download.js'
import type { Listing } from './lists/listing.js'
import type { PageParts } from './parts.js'
import { address, paths } from './paths.js'
import { frame } from './views/frame.js'
import { type Html, piece } from './views/html.js'
import { pageOf, sentenceOf, show } from './views/page.js'
import { type Act, type Fields, field, type Shown, type Visit } from './visit.js'

export interface DashboardPage {
  /** Express spelling: `/tasks/:task_id`. */
  readonly path: string
  /** Returns what it shows, or the address of the page to go to instead. */
  readonly show: (visit: Visit) => Promise<Shown | string>
  /** The list that the page shows, which is downloaded at the same address with `.csv` or `.json`. */
  readonly listing?: Listing | ((visit: Visit) => Listing)
  /** Draws the chart of the page as SVG, which browsers load from the same address with `chart.svg`: it takes longer than the page. */
  readonly chart?: (visit: Visit) => Promise<string>
  /** By the value of the field `act`. */
  readonly acts?: Readonly<Record<string, Act>>
}

const readForm = express.urlencoded({ extended: false, limit: 300_000, parameterLimit: 1000 })

/** Serves the pages. */
export function dashboard(parts: PageParts, pages: readonly DashboardPage[]): Router {
  const router = Router()
  for (const page of pages) {
    for (const format of page.listing === undefined ? [] : (['csv', 'json'] as const))
      router.get(`${page.path}.${format}`, async (request: Request, response: Response) => {
        const visit = await fileVisit(parts, request, response, request.path.slice(0, -format.length - 1))
        const { listing } = page as Required<DashboardPage>
        if (visit !== null)
          await sendDownload(visit, typeof listing === 'function' ? listing(visit) : listing, format, response)
      })
    const { chart } = page
    if (chart !== undefined)
      router.get(paths.chart(page.path), async (request: Request, response: Response) => {
        const visit = await fileVisit(parts, request, response, page.path)
        if (visit !== null)
          response
            .setHeader('cache-control', 'no-store')
            .type('svg')
            .send(await chart(visit))
      })
    router.get(page.path, async (request: Request, response: Response) => {
      rejectUnprintable(request)
      const tidy = withoutEmpty(request)
      if (tidy !== null) return response.redirect(303, tidy)
      const visitor = await visitorOf(parts, request, null)
      if (visitor === null) return response.redirect(303, signInAddress(request.originalUrl))
      await answer(parts, request, response, visitor, page.show)
    })
    router.post(page.path, readForm, async (request: Request, response: Response) => {
      rejectUnprintable(request)
      rejectOtherOrigins(parts.public_url, request)
      const form = fieldsOf(request)
      const visitor = await visitorOf(parts, request, field(form, 'csrf'))
      if (visitor === null) return expired(response, request)
      const act = Object.hasOwn(page.acts ?? {}, field(form, 'act')) ? page.acts?.[field(form, 'act')] : undefined
      await answer(parts, request, response, visitor, page.show, { form, act: act ?? unknownAct })
    })
  }
  return router
}

/** The view of a file that belongs to the page at `path`; null after leading an anonymous visitor to the sign-in. */
async function fileVisit(parts: PageParts, request: Request, response: Response, path: string): Promise<Visit | null> {
  const visitor = await visitorOf(parts, request, null)
  if (visitor !== null) return visitOf(parts, request, response, visitor, {})
  response.redirect(303, signInAddress(path))
  return null
}

const unknownAct: Act = async () => {
  throw new PlatformError('INVALID', 'the form names no act: press one of the buttons')
}

interface Sent {
  readonly form: Fields
  readonly act: Act
}

/** Shows the page; after a form, the page that it leads to, or the same page with the message of its error. */
async function answer(
  parts: PageParts,
  request: Request,
  response: Response,
  visitor: Visitor,
  page: DashboardPage['show'],
  sent: Sent | null = null,
): Promise<void> {
  if (visitor.person.is_waitlisted) return show(response, 403, waitlisted({ email: visitor.email }))
  const visit = visitOf(parts, request, response, visitor, sent?.form ?? {})
  const send = (status: number, shown: Shown, message = '') => {
    show(response, status, frame({ ...shown, message, visit, theme: themeIn(request) }))
  }
  const reply = (status: number, next: Shown | string, message = '') => {
    if (typeof next === 'string') goTo(request, response, next)
    else send(status, next, message)
  }
  let failed: PlatformError | null = null
  try {
    if (sent !== null) return reply(200, await sent.act(visit, sent.form))
  } catch (error) {
    failed = shownError(error)
  }
  try {
    const status = failed === null ? 200 : errorTable[failed.code].status
    reply(status, await page({ ...visit, errors: failed?.errors ?? [] }), failed === null ? '' : messageOf(failed))
  } catch (error) {
    const known = shownError(error)
    send(
      errorTable[known.code].status,
      { title: titleOf(known), content: helpFor(known, visitor).toHTML() },
      messageOf(known),
    )
  }
}

/** A script that follows the page opens the whole next page. */
function goTo(request: Request, response: Response, to: string): void {
  if (request.get('hx-request') === undefined) response.redirect(303, to)
  else response.setHeader('HX-Redirect', to).status(200).end()
}

/** For people whose workspace is not open yet: no page of it can show anything. */
const waitlisted = pageOf(
  'You are on the waiting list',
  `<p>Your account, <strong>{{email}}</strong>, exists. Its personal workspace opens when the operator of this platform releases the account.
You do not have to do anything for that.</p>
<p>You can work in the workspaces of others at once: ask an owner or admin to invite this address, and accept on
<a href="/account">the page of your account</a>.</p>`,
)

/** An error that the person can act on. Rethrows others. */
function shownError(error: unknown): PlatformError {
  if (error instanceof PlatformError && !['UNAVAILABLE', 'INTERNAL'].includes(error.code)) return error
  throw error
}

function titleOf({ code }: PlatformError): string {
  return code === 'NOT_FOUND' ? 'Not found' : code === 'FORBIDDEN' ? 'No access' : 'The request failed'
}

/** What the person can do after an error. */
function helpFor({ code }: PlatformError, { person: { role, is_suspended } }: Visitor): Html {
  return help({ lacksRight: code === 'FORBIDDEN' && role !== null && !is_suspended, members: paths.members() })
}

const help =
  piece(`{{#if lacksRight}}<p>An owner or admin can change your role: they are among the <a class="text-link" href="{{members}}">members of the workspace</a>.</p>
{{/if}}<p>If this belongs to another workspace of yours, switch to that workspace on the page of
<a class="text-link" href="/account">your account</a>, then open this link again.</p>`)

/** The message of an error, with every wrong field. */
function messageOf({ message, errors }: PlatformError): string {
  const fields = (errors ?? []).map(({ path, message: about }) => (path === '' ? about : `${path}: ${about}`))
  const more = fields.filter((text) => !message.includes(text))
  return [sentenceOf(message), ...(fields.length > 1 ? more : [])].join('\n')
}

function visitOf(parts: PageParts, request: Request, response: Response, visitor: Visitor, form: Fields): Visit {
  const { person, email } = visitor
  const caller = {
    principal: person,
    request_id: String(response.locals.request_id),
    gone: disconnection(response),
    authenticateAgain: async () => void (await visitorOf(parts, request, null)),
  }
  return {
    api: parts.api(caller),
    once: onceEach(),
    person,
    email,
    path: request.path,
    here: request.originalUrl,
    params: request.params as Record<string, string>,
    query: queryOf(request),
    form,
    errors: [],
    csrf: parts.access_tokens.csrfOf(person.session_id),
    now: parts.clock(),
    url: parts.url(),
  }
}

function onceEach(): Visit['once'] {
  const known = new Map<string, Promise<unknown>>()
  return <T>(key: string, read: () => Promise<T>) => {
    const found = (known.get(key) as Promise<T> | undefined) ?? read()
    known.set(key, found)
    return found
  }
}

function queryOf({ query }: Request): Query {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value].flat().map(String).join(',')]))
}

/** The address without the filters that a form sent empty; null if there are none. */
function withoutEmpty(request: Request): string | null {
  const query = queryOf(request)
  return Object.values(query).includes('') ? address(request.path, query) : null
}

function fieldsOf({ body }: Request): Fields {
  const fields = Object.entries((body ?? {}) as Record<string, unknown>)
  return Object.fromEntries(fields.map(([name, value]) => [name, [value].flat().map(String)]))
}

function expired(response: Response, { path }: Request): void {
  const title = 'This form has expired'
  const message = 'Your session has ended or the form is from another session. Nothing was changed.'
  show(response, 403, frame({ title, content: '', message, visit: null, back: path, theme: null }))
}

// The page of an incident, which mails and Slack messages link to.

import { type Request, type Response, Router } from 'express'
import { assertAllowed } from '../../access/permission.js'
import { readMembersUnscoped } from '../../access/store/people.js'
import { findAgents } from '../../agents/store/agents.js'
import { withSnapshot, withUnscopedTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { errorTable, PlatformError } from '../../errors.js'
import { rejectOtherOrigins } from '../../http/client.js'
import { operators } from '../../http/principal.js'
import { byMember, byReader } from '../../http/route.js'
import { validated } from '../../http/validate.js'
import { type IncidentMove, moveIncident, noteOf, transitions } from '../../incidents/commands/move-incident.js'
import { findIncident } from '../../incidents/store/incidents.js'
import { listOccurrences } from '../../incidents/store/occurrences.js'
import { formOf, incidentPath, readForm, signInAddress, type Visitor, visitorOf } from '../browser.js'
import type { PageParts } from '../parts.js'
import {
  expiredFormView,
  formValues,
  type IncidentFacts,
  incidentValues,
  incidentView,
  maxOccurrences,
  noIncidentView,
} from '../views/incident.js'
import { sentenceOf, show } from '../views/page.js'

/** A form that changed nothing. */
interface Rejected {
  readonly note: string
  readonly error: PlatformError
}

/** GET and POST /incidents/{id}. */
export function incidentPage(parts: PageParts): Router {
  const router = Router()
  router.get(incidentPath, async (request: Request, response: Response) => {
    const visitor = await visitorOf(parts, request, null)
    if (visitor === null) return response.redirect(303, signInAddress(request.path))
    await answer(parts, request, response, visitor)
  })
  router.post(incidentPath, readForm, async (request: Request, response: Response) => {
    rejectOtherOrigins(parts.public_url, request)
    const { csrf = '', ...form } = formOf(request)
    const visitor = await visitorOf(parts, request, csrf)
    if (visitor === null) return show(response, 403, expiredFormView({ link: request.path }))
    try {
      await move(parts, visitor, idIn(request), form)
      response.redirect(303, request.path)
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code === 'UNAVAILABLE') throw error
      await answer(parts, request, response, visitor, { note: form.note ?? '', error })
    }
  })
  return router
}

function idIn({ path }: Request): string {
  return incidentPath.exec(path)?.[1] ?? ''
}

/** Makes the move that the form asks for, as the API does. */
async function move(
  parts: PageParts,
  { person }: Visitor,
  id: string,
  { act = '', note = '' }: Readonly<Record<string, string>>,
): Promise<void> {
  assertAllowed(person, byMember)
  if (!isMove(act)) throw new PlatformError('INVALID', 'the form names no move: press one of the buttons')
  if (act === 'ignore' && note.trim() === '')
    throw new PlatformError('INVALID', 'the note is missing: write why the incident is ignored')
  await moveIncident(parts, person.scope, id, act, noteOf(act, validated('incident-move', { note })))
}

function isMove(act: string): act is IncidentMove {
  return Object.hasOwn(transitions, act)
}

/** Shows the incident; another page where there is none, or none that the person can read. */
async function answer(
  parts: PageParts,
  request: Request,
  response: Response,
  { person, email }: Visitor,
  rejected: Rejected | null = null,
): Promise<void> {
  try {
    assertAllowed(person, byReader)
    const facts = await readFacts(parts, person.scope, idIn(request), afterIn(request.query))
    const isMember = operators.some((role) => role === person.role)
    const page = incidentView({
      ...incidentValues(facts),
      ...(isMember ? formValues(facts.incident.state) : { moves: [] }),
      csrf: parts.access_tokens.csrfOf(person.session_id),
      note: rejected?.note ?? '',
      message: rejected === null ? '' : sentenceOf(rejected.error.message),
      email,
    })
    show(response, rejected === null ? 200 : errorTable[rejected.error.code].status, page)
  } catch (error) {
    if (!(error instanceof PlatformError) || !['FORBIDDEN', 'NOT_FOUND'].includes(error.code)) throw error
    show(response, errorTable[error.code].status, noIncidentView({ message: sentenceOf(error.message), email }))
  }
}

/** The incident with a page of its occurrences. Rejects with NOT_FOUND. */
async function readFacts({ db }: PageParts, scope: Scope, id: string, after: number): Promise<IncidentFacts> {
  const known = await withSnapshot(db, scope, async (tx) => {
    const incident = await findIncident(scope, tx, id)
    if (incident === null) throw new PlatformError('NOT_FOUND', 'this incident does not exist')
    const occurrences = await listOccurrences(scope, tx, incident, { limit: maxOccurrences, after })
    const [agent = null] = await findAgents(scope, tx, [incident.agent_id])
    return { incident, occurrences, agent }
  })
  const members = await withUnscopedTransaction(db, (tx) => readMembersUnscoped(tx, scope))
  return { ...known, after, addresses: new Map(members.map(({ person_id, email }) => [person_id, email])) }
}

/** The last occurrence of the previous page; 0 for the first page. */
function afterIn({ after }: Request['query']): number {
  return typeof after === 'string' && /^\d{1,9}$/.test(after) ? Number(after) : 0
}

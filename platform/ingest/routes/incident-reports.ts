import type { IncidentReportResult } from '@svc/schemas'
import type { Resources } from '../../db/db.js'
import { errorTable, invalid, PlatformError } from '../../errors.js'
import { keyOf } from '../../http/principal.js'
import { problemOf } from '../../http/problem.js'
import { byKey, route } from '../../http/route.js'
import { decode, readJson } from '../../http/validate.js'
import type { Triggering } from '../../incidents/actions/triggers.js'
import { type Report, type ReportOutcome, reportIncidents } from '../commands/report-incidents.js'
import { reportIn } from '../incident-report.js'

/** Reports of one request. */
const maxReports = 100

export const incidentReportRoutes = [
  route({
    method: 'post',
    path: '/api/v1/incidents',
    summary: 'Report incidents of a local engine, one or a list of up to 100; each is counted once',
    tag: 'Incidents',
    access: byKey,
    body: 'incident-report',
    lines: true,
    responses: { 200: 'incident-report-answer', 201: 'incident-report-answer' },
    handle: async ({ raw, scope, principal, request_id }, parts: Resources & Triggering) => {
      const sent = readJson(Buffer.from(wellFormed(decode(raw))))
      const key = keyOf(principal)
      if (Array.isArray(sent)) {
        assertCount(sent)
        const outcomes = await reportIncidents(parts, scope, key, sent.map(readReport))
        return { status: 200, body: { results: outcomes.map((outcome) => resultOf(outcome, request_id)) } }
      }
      const [outcome] = await reportIncidents(parts, scope, key, [reportIn(sent)])
      if (outcome === undefined || outcome instanceof PlatformError)
        throw outcome ?? new PlatformError('INTERNAL', 'no answer')
      const { status, ...body } = outcome
      return { status, body }
    },
  }),
]

/** Evidence may quote text that was cut inside a character: the half is replaced, because no record can hold it. */
function wellFormed(json: string): string {
  const escapes = /\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u(d[89a-f][0-9a-f]{2})|.)/gis
  return json.replaceAll(escapes, (found, _high, _low, lone) => (lone === undefined ? found : '\\ufffd'))
}

function assertCount({ length }: readonly unknown[]): void {
  if (length >= 1 && length <= maxReports) return
  throw invalid([{ path: '', message: `the list must have 1 to ${maxReports} incidents, found ${length}` }])
}

function resultOf(outcome: ReportOutcome, request_id: string): IncidentReportResult {
  if (!(outcome instanceof PlatformError)) return outcome
  return { status: errorTable[outcome.code].status, problem: problemOf(outcome, request_id) }
}

function readReport(value: unknown): Report {
  try {
    return reportIn(value)
  } catch (error) {
    if (error instanceof PlatformError) return error
    throw error
  }
}

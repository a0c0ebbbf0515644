import type { Resources } from '../../db/db.js'
import { invalid, PlatformError } from '../../errors.js'
import { keyOf } from '../../http/principal.js'
import { byKey, route } from '../../http/route.js'
import { readReportJson } from '../../http/validate.js'
import type { Triggering } from '../../incidents/actions/triggers.js'
import { orProblem, reportResult } from '../answers.js'
import { reportIncidents } from '../commands/report-incidents.js'
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
      const sent = readReportJson(raw)
      const key = keyOf(principal)
      if (Array.isArray(sent)) {
        assertCount(sent)
        const outcomes = await reportIncidents(
          parts,
          scope,
          key,
          sent.map((one) => orProblem(() => reportIn(one))),
        )
        return { status: 200, body: { results: outcomes.map((outcome) => reportResult(outcome, request_id)) } }
      }
      const [outcome] = await reportIncidents(parts, scope, key, [reportIn(sent)])
      if (outcome === undefined || outcome instanceof PlatformError)
        throw outcome ?? new PlatformError('INTERNAL', 'no answer')
      const { status, ...body } = outcome
      return { status, body }
    },
  }),
]

function assertCount({ length }: readonly unknown[]): void {
  if (length >= 1 && length <= maxReports) return
  throw invalid([{ path: '', message: `the list must have 1 to ${maxReports} incidents, found ${length}` }])
}

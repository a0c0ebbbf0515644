// Reports for auditors: requested, made by a job, downloaded.
import type { Report } from '@svc/schemas'
import { withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { isKnown } from '../../http/etag.js'
import { listReply, pageByIndex } from '../../http/paging.js'
import { byAdmin, byAuditor, parameters, route, valuesOf } from '../../http/route.js'
import { workspaceName } from '../../log/bundle/store.js'
import { removeReport, unknownReport } from '../commands/delete-report.js'
import { type RequestParts, requestReport } from '../commands/request-report.js'
import { assertReady, fileNameOf, progressSeconds, readParts, reportTypes } from '../download.js'
import { findReport, listReports } from '../store/reports.js'

const tag = 'Reports'
/** A report that is not finished is asked for again soon. */
const soonIn = ({ status }: Report) =>
  status === 'queued' || status === 'running' ? { 'retry-after': String(progressSeconds) } : {}

export const reportRoutes = [
  route({
    method: 'post',
    path: '/api/v1/reports',
    summary: 'Request a report of a period; the same request returns the same report',
    tag,
    access: byAuditor,
    body: 'report-request',
    responses: { 200: 'report', 202: 'report' },
    handle: async ({ scope, body }, parts: RequestParts) => {
      const { report, isQueued } = await requestReport(parts, scope, body)
      const headers = { location: `/api/v1/reports/${report.id}`, ...soonIn(report) }
      return { status: isQueued ? 202 : 200, body: report, headers }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/reports',
    summary: 'List reports, newest first',
    tag,
    access: byAuditor,
    query: {
      status: parameters.choice('in this state', valuesOf('report', 'status')),
      format: parameters.choice('of this format', valuesOf('report', 'format')),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'report-list' },
    handle: async ({ scope, query }, { db }: RequestParts) => {
      const page = pageByIndex(query)
      const listed = await withSnapshot(db, scope, (tx) => listReports(scope, tx, query, page))
      const { status, body } = listReply('reports', listed, page, ({ number }) => number)
      return { status, body: { ...body, reports: listed.rows.map(({ number: _number, ...report }) => report) } }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/reports/{id}',
    summary: 'Read the state of a report',
    tag,
    access: byAuditor,
    responses: { 200: 'report' },
    handle: async ({ scope, params }, parts: RequestParts) => {
      const report = await readReport(parts, scope, params.id)
      return { status: 200, body: report, headers: soonIn(report) }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/reports/{id}/download',
    summary: 'Download the file of a report that is ready',
    tag,
    access: byAuditor,
    responses: {},
    file: Object.values(reportTypes),
    handle: async ({ scope, params, header }, parts: RequestParts) => {
      const report = assertReady(await readReport(parts, scope, params.id))
      const { sha256, bytes, format } = report
      const etag = `"${sha256}"`
      if (isKnown(etag, header('if-none-match'))) return { status: 304, headers: { etag } }
      const workspace = await withSnapshot(parts.db, scope, (tx) => workspaceName(scope, tx))
      const digest = `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
      const chunks = readParts(parts.db, scope, report)
      const stream = { chunks, bytes, type: reportTypes[format], name: fileNameOf(workspace, report) }
      return { status: 200, stream, headers: { etag, 'repr-digest': digest } }
    },
  }),
  route({
    method: 'delete',
    path: '/api/v1/reports/{id}',
    summary: 'Delete a report and its file; one in progress is cancelled. The log still names an issued one',
    tag,
    access: byAdmin,
    responses: { 204: null },
    handle: async ({ scope, params }, parts: RequestParts) => {
      await removeReport(parts, scope, params.id)
      return { status: 204 }
    },
  }),
]

/** Rejects with NOT_FOUND. */
async function readReport({ db }: RequestParts, scope: Scope, id: string) {
  const report = await withSnapshot(db, scope, (tx) => findReport(scope, tx, id))
  if (report === null) throw unknownReport()
  return report
}

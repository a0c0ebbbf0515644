// The list of reports.

import type { Report } from '@svc/schemas'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import type { DashboardPage } from '../../page.js'
import { paths } from '../../paths.js'
import { peopleOf } from '../../people.js'
import { hash, link, nothing, number, piece, text, time } from '../../views/html.js'
import { formatTexts, isInProgress, periodOf, stateOf } from './report-texts.js'

export const reports: Listing<Report> = {
  place: 'reports',
  title: 'Reports',
  path: '/reports',
  schema: 'report-list',
  rows: 'reports',
  endpoint: '/api/v1/reports',
  live: isInProgress,
  filters: [
    {
      kind: 'choice',
      name: 'status',
      label: 'State',
      values: ['queued', ['running', 'in progress'], 'ready', 'failed'],
    },
    { kind: 'choice', name: 'format', label: 'Format', values: Object.entries(formatTexts) },
  ],
  columns: async (visit) => {
    const nameOf = await peopleOf(visit)
    return [
      { head: 'Report', cell: (report) => link(paths.report(report.id), periodOf(report)) },
      { head: 'State', cell: stateOf },
      { head: 'Format', cell: ({ format }) => text(formatTexts[format]) },
      {
        head: 'Agents',
        cell: ({ id, agent_ids }) =>
          agent_ids === null ? text('all') : link(paths.report(id), number(agent_ids.length)),
      },
      { head: 'SHA-256', cell: ({ sha256 }) => hash(sha256) },
      {
        head: 'Made by',
        cell: ({ requested_by, created_at }) => madeBy({ by: nameOf(requested_by), at: time(created_at) }),
      },
      {
        head: 'File',
        cell: ({ id: report_id, status, bytes }) =>
          status === 'ready' ? download({ id: report_id, size: sizeOf(bytes) }) : nothing,
      },
    ]
  },
  empty: 'No report was made yet. Make one of the last 30 days: it states what was governed and what went wrong.',
  above: async ({ api: { may } }) =>
    may('post', '/api/v1/reports') ? make({ href: paths.new_report(), log: paths.log() }) : nothing,
}

const make =
  piece(`<div class="lead-bar"><p>A report states for one period which agents were governed, what went wrong, who answered, and whether
the record is whole. An auditor can verify it without this platform.
The evidence of a period without a report is on the page <a class="text-link" href="{{log}}">Log</a>.</p><a class="btn btn-primary" href="{{href}}">Make a report</a></div>
`)
const madeBy = piece('{{by}} <span class="text-secondary d-block">{{at}}</span>')
const download = piece(
  '<a href="/api/v1/reports/{{id}}/download" download>Download</a> <span class="text-secondary text-nowrap">{{size}}</span>',
)

/** A size as people read it. */
export function sizeOf(bytes: number | null): string {
  if (bytes === null) return ''
  return bytes < 1_000_000 ? `${number(Math.ceil(bytes / 1000))} kB` : `${number(Math.round(bytes / 100_000) / 10)} MB`
}

export const reportsPage: DashboardPage = listPage(reports)

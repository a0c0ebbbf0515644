// The page of a report: how far it is, its file, how to verify it offline, and its deletion.
import type { Report } from '@svc/schemas'
import type { DashboardPage } from '../../page.js'
import { address, api, paths } from '../../paths.js'
import { type Named, peopleOf } from '../../people.js'
import { hash, id, link, number, piece, text, time } from '../../views/html.js'
import { card, copyable, facts, question } from '../../views/pieces.js'
import type { Act, Shown, Visit } from '../../visit.js'
import { checkpointOf } from '../settings/log.js'
import { formatTexts, isInProgress, periodOf, stateOf } from './report-texts.js'
import { sizeOf } from './reports.js'

async function show(visit: Visit): Promise<Shown> {
  const { params, query, path } = visit
  const at = api`/api/v1/reports/${params.id ?? ''}`
  const report = await visit.api.read('report', at)
  const title = `Report ${periodOf(report)
    .toHTML()
    .replaceAll(/<[^>]*>/g, '')}`
  const mayDelete = visit.api.may('delete', at)
  const shown = (content: { toHTML: () => string }) => ({ title, place: 'reports', content: content.toHTML() })
  if (query.confirm === 'delete' && mayDelete) return shown(question(visit, deletion(report, path)))
  const [nameOf, isSigned] = await Promise.all([peopleOf(visit), isEvidenceSigned(visit, report)])
  const content = view({
    facts: facts(factsOf(report, nameOf)),
    live: isInProgress(report) || (report.status === 'ready' && !isSigned) ? visit.here : '',
    state: stateOf(report),
    ...fileOf(report, isSigned),
    verify: report.status === 'ready' ? verification(report, visit.url) : '',
    delete_href: mayDelete ? address(path, { confirm: 'delete' }) : '',
    delete_label: isInProgress(report) ? 'Cancel and delete' : 'Delete',
  })
  return shown(content)
}

const view =
  piece(`<div id="live" class="row"{{#if live}} hx-get="{{live}}" hx-trigger="every 2s" hx-select="#live" hx-target="#live" hx-swap="outerHTML"{{/if}}>
<div class="col-lg-7"><section class="card"><div class="card-body">
<p class="mb-2">{{state}}</p>
{{#if waits}}<p class="mb-0">{{waits}}</p>{{/if}}
{{#if failure}}<p class="lines mb-0"><bdi>{{failure}}</bdi></p><p class="mt-2 mb-0"><a class="btn btn-primary" href="{{again}}">Make it again</a></p>{{/if}}
{{#if download}}<div class="btn-list"><a class="btn btn-primary" href="{{download}}" download>Download the {{format}} ({{size}})</a>
{{#if bundle}}<a class="btn" href="{{bundle}}" download>Download the evidence bundle</a>{{/if}}</div>
<p class="form-hint mt-2 mb-0">{{#unless bundle}}The evidence bundle is ready in a few seconds, once the log with this report is signed. {{/unless}}The bundle holds every entry
that the report reads, and the entry with the SHA-256 of its file.</p>{{/if}}
</div></section>{{verify}}</div>
<div class="col-lg-5"><section class="card"><div class="card-body">{{facts}}</div></section>
{{#if delete_href}}<p class="no-print"><a class="btn btn-sm btn-outline-danger" href="{{delete_href}}">{{delete_label}} …</a></p>{{/if}}</div></div>
`)

/** A bundle exists once a checkpoint covers the entry with the SHA-256 of the file. */
async function isEvidenceSigned(visit: Visit, { log_index }: Report): Promise<boolean> {
  return log_index !== null && log_index < ((await checkpointOf(visit))?.size ?? 0)
}

function fileOf(report: Report, isSigned: boolean) {
  const { id: report_id, status, error, bytes, format, from, to, by, agent_ids } = report
  const isReady = status === 'ready'
  const again = { from: from.slice(0, 10), to: to.slice(0, 10), format, by, agent_ids: agent_ids?.join(',') }
  return {
    waits: isInProgress(report)
      ? 'The platform makes one report at a time. You can leave this page: the report is kept.'
      : '',
    failure: status === 'failed' ? (error ?? 'The report failed.') : '',
    again: paths.new_report(again),
    download: isReady ? `${api`/api/v1/reports/${report_id}`}/download` : '',
    format: formatTexts[format],
    size: sizeOf(bytes),
    bundle: isReady && isSigned ? address('/api/v1/log/bundle', { report: report_id }) : '',
  }
}

function factsOf(report: Report, nameOf: Named): Parameters<typeof facts>[0] {
  const { sha256, bytes, agent_ids, log_index, cut_off, root, created_at, ready_at, requested_by } = report
  return [
    ['Period (UTC)', periodOf(report)],
    ['Format', text(formatTexts[report.format])],
    ['Steps count by', text(report.by === 'received' ? 'time of receipt' : 'time of occurrence, as stated')],
    [
      'Agents',
      agent_ids === null ? text('all') : agentsView({ agents: agent_ids.map((one) => id(one, paths.agent(one))) }),
    ],
    ['Made by', nameOf(requested_by)],
    ['Requested', time(created_at)],
    ['Ready', ready_at === null ? null : time(ready_at)],
    ['Report', id(report.id, paths.events({ subject: report.id }))],
    ['SHA-256', sha256 === null ? null : hash(sha256, 64)],
    ['Size', bytes === null ? null : text(`${number(bytes)} bytes`)],
    ['As of', link(paths.log(), `${number(cut_off)} entries of the log`)],
    ['Root', hash(root, 24)],
    ['Entry of the log', log_index === null ? null : text(number(log_index))],
  ]
}

const agentsView = piece('{{#each agents}}<div>{{this}}</div>{{/each}}')

/** The commands of docs/auditors.md, with the id and the addresses of this report. */
function verification({ id: report_id, format }: Report, url: string) {
  const svc = 'npx --no-install svc'
  const file = `report.${format}`
  const commands = [
    `${svc} login --url ${url}`,
    `${svc} checkpoint > trust.policy`,
    `${svc} bundle --report ${report_id} --out report.zip`,
    `${svc} verify report.zip --trust trust.policy --report ${file}`,
  ]
  const again = `${svc} report --bundle report.zip --trust trust.policy --out again.${format}`
  return card(
    'Verify the report offline',
    verify({
      file,
      log: paths.log(),
      commands: copyable('the commands that verify the report', commands.join('\n')),
      again: copyable('the command that makes the report again', again),
    }),
  )
}

const verify =
  piece(`<p>The log holds the SHA-256 of the file that was issued. These commands show whether the file in your hands is that file, byte for
byte. Save it as <code>{{file}}</code> first. The last command contacts no platform.</p>
{{commands}}
<p>Before you rely on <code>trust.policy</code>, compare the <a class="text-link" href="{{log}}">fingerprints of the keys</a> with those that the
operator gave you over another channel, such as by phone or in the contract.</p>
<p>To show that the numbers follow from the log, make the report again on your own machine:</p>
{{again}}`)

function deletion(report: Report, back: string) {
  return {
    title: isInProgress(report) ? 'Cancel and delete this report?' : 'Delete this report?',
    effects: [
      report.status === 'ready'
        ? 'The file is deleted from the platform. Copies that people downloaded remain.'
        : 'The work on the report ends, and no file is made.',
      ...(report.status === 'ready'
        ? ['The entry with its SHA-256 stays in the log, so that a copy of the file can still be verified.']
        : []),
      'The audit trail states who deleted it. The same report can be requested again.',
    ],
    act: 'delete',
    button: 'Delete the report',
    back,
  }
}

const remove: Act = async ({ api: { change }, params }) => {
  await change(null, 'delete', api`/api/v1/reports/${params.id ?? ''}`)
  return paths.reports()
}

export const reportPage: DashboardPage = { path: '/reports/:id', show, acts: { delete: remove } }

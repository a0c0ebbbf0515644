// `svc report` and `svc reports`: reports for auditors of the current workspace.
import type { ReportList } from '@svc/schemas'
import type { Command } from 'commander'
import { memberCommand, type Subcommand } from '../account/subcommand.js'
import { table } from '../account/table.js'
import type { Terminal } from '../terminal.js'

export function reportCommand(terminal: Terminal): Command {
  return memberCommand(terminal, report, [
    'report --from 2026-01-01 --to 2026-01-31 --out january.pdf',
    'report --bundle january.zip --trust trust.policy --out again.pdf',
  ])
}

export function reportsCommand(terminal: Terminal): Command {
  return memberCommand(terminal, reports)
}

const report: Subcommand = {
  call: 'report',
  description:
    'make a report of a period: what was governed, what went wrong, who answered, whether the record is whole',
  options: [
    [
      '--from <time>',
      'start of the period, such as 2026-01-01 or 2026-01-01T09:00:00Z (default: 30 days before its end)',
    ],
    ['--to <time>', 'end of the period: a day, which is included, or a time, which is not (default: now)'],
    [
      '--by <time>',
      'time by which a step counts: received, or occurred: when it occurred, as its sender states (default: received)',
    ],
    [
      '--format <format>',
      'pdf: PDF/A-3 with the XML attached; xml and json: OSCAL assessment results (default: pdf; of a bundle: by the ending of --out, else the issued one)',
    ],
    ['--cut-off <size>', 'size of a published checkpoint: the report is as of it (default: the latest)'],
    ['--id <id>', 'a report that was requested before, instead of a period'],
    ['--bundle <file>', 'make the report again from its bundle, offline and without a login; with --trust'],
    ['--trust <file>', 'the trust policy: the keys of the log; with --bundle'],
    ['--out <file>', 'file to write (default: a name with the period)'],
  ],
  lists: [['--agent <agent>', 'id or key of an agent of the report (default: all)']],
  choices: { format: ['pdf', 'xml', 'json'], by: ['received', 'occurred'] },
  offline: ({ bundle, trust, ...options }, { agent = [] }) => {
    if (bundle === undefined && trust === undefined) return null
    const given = { ...options, agents: agent }
    return import('./report-bundle.js').then(({ reportOfBundle }) => reportOfBundle(bundle, trust, given))
  },
  run: async (client, _args, options, { agent = [] }) => {
    const { getReport } = await import('./report-run.js')
    return getReport(client, { ...options, agents: agent })
  },
}

const reports: Subcommand = {
  call: 'reports',
  description: 'list the reports of your workspace, newest first',
  run: async ({ get, svc }) => {
    const list = await get<ReportList>('/api/v1/reports?limit=200')
    const rows = list.reports.map(({ id, status, format, from, to, by, cut_off }) => [
      id,
      status,
      format,
      `${from} to ${to}${by === 'occurred' ? ', by occurred' : ''}`,
      `as of ${cut_off} entries`,
    ])
    const left = list.total - rows.length
    const more = left > 0 ? [`… and ${left} older ones`] : []
    const none = `no reports yet: \`${svc} report --from 2026-01-01 --to 2026-01-31\` makes one`
    return { lines: rows.length === 0 ? [none] : [...table(rows), ...more], json: list }
  },
}

// Full ids and digests, for what the tables above name shortly.
import { paper } from '../charts/colours.js'
import { isBySender } from '../content/times.js'
import type { Block } from '../pdf/engine.js'
import { textWidth } from '../pdf/style.js'
import type { Context, Section } from './section.js'

export const appendix: Section = { pdf }

function pdf(context: Context): readonly Block[] {
  const { pen, data } = context
  const { report, integrity } = data
  return [
    pen.h1('Appendix: identifiers and digests'),
    pen.h2('Report'),
    pen.table({
      columns: [
        { title: 'What', width: 2.6 },
        { title: 'Value', width: 7.4, mono: true, max: 700 },
      ],
      rows: [
        ['Report id', report.id],
        ['Organization', report.org_id],
        ['From (inclusive)', report.period.from],
        ['To (exclusive)', report.period.to],
        ...(isBySender(report) ? [['Steps count by', 'the time that their sender stated']] : []),
        ['As of', report.as_of],
        ['Root at the cut-off', integrity.checkpoint.root],
        ['Made by', `svc ${report.version}`],
      ],
      empty: '',
    }),
    pen.h2('Signed checkpoint of the cut-off'),
    note(context),
    ...chosenAgents(context),
    pen.h2('Agents'),
    ids(context),
    pen.h2('Manifests'),
    manifests(context),
    pen.h2('Operations'),
    operations(context),
  ]
}

/** Line by line as it was signed, but for characters that cannot be printed. */
function note({ pen, data }: Context): Block {
  const lines = data.integrity.checkpoint.note.split('\n').slice(0, 40)
  const body = [
    [
      {
        stack: lines.map((line) => pen.text(line === '' ? ' ' : line, { mono: true, size: 7.2, max: 400 })),
        fillColor: paper,
      },
    ],
  ]
  return { table: { widths: [textWidth - 24], body }, layout: 'command', margin: [0, 0, 0, 10] }
}

function chosenAgents({ pen, data }: Context): Block[] {
  const chosen = data.report.agent_ids
  if (chosen === null) return []
  const table = pen.table({
    columns: [{ title: 'Agent id', width: 1, mono: true, max: 80 }],
    rows: chosen.map((id) => [id]),
    more: { what: 'chosen agents' },
    empty: 'No agent was chosen.',
  })
  return [pen.h2('Chosen agents'), table]
}

function ids({ pen, data }: Context): Block {
  return pen.table({
    columns: [
      { title: 'Name', width: 3, max: 120 },
      { title: 'Key', width: 3, mono: true, max: 120 },
      { title: 'Id', width: 4, mono: true, max: 80 },
    ],
    rows: data.agents.rows.map(({ name, agent_key, agent_id }) => [name, agent_key, agent_id]),
    more: { count: data.agents.more, what: 'agents' },
    empty: 'No agent was registered before the cut-off.',
  })
}

function manifests({ pen, data }: Context): Block {
  const known = data.policies.rows.flatMap(({ manifest }) => (manifest === null ? [] : [manifest]))
  const unique = new Map(known.map((each) => [JSON.stringify([each.repo, each.path, each.sha, each.name]), each]))
  return pen.table({
    columns: [
      { title: 'Manifest', width: 2.4, max: 120 },
      { title: 'Repository and path', width: 3.8, max: 200 },
      { title: 'SHA of the file in Git', width: 3.8, mono: true, max: 80 },
    ],
    rows: [...unique.values()].map(({ name, repo, path, sha }) => [name, placeOf(pen, repo, path), sha]),
    empty: 'No policy of this period came from a manifest.',
  })
}

function placeOf(pen: Context['pen'], repo: string | null, path: string | null): Block | null {
  if (repo === null || path === null)
    return repo === null && path === null ? null : pen.text(repo ?? path ?? '', { style: 'cell', max: 160 })
  return pen.text([repo, ' · ', path], { style: 'cell', max: 160 })
}

function operations({ pen, data }: Context): Block {
  const { holds, erasures, prunes } = data.retention
  const of = (kind: string, rows: readonly { readonly id: string }[]) => rows.map(({ id }) => [kind, id])
  return pen.table({
    columns: [
      { title: 'Kind', width: 2.6 },
      { title: 'Id', width: 7.4, mono: true, max: 120 },
    ],
    rows: [...of('Hold', holds.rows), ...of('Erasure', erasures.rows), ...of('Deletion', prunes.rows)],
    empty: 'There was no hold, erasure or deletion.',
  })
}

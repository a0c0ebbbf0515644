// The control matrix: what the log shows for each control, and what it does not.
import type { ControlRow } from '../../controls/controls.js'
import type { Block } from '../../pdf/engine.js'
import { smallId, textWidth } from '../../pdf/style.js'
import type { Context, Section } from '../section.js'

export const matrix: Section = { pdf }

function pdf({ pen, controls }: Context): readonly Block[] {
  const frameworks = [...new Set(controls.map(({ framework }) => framework))]
  const listed = pen.prose(
    'For each control, what the log of this period shows and what it does not show. “Satisfied”: the log holds evidence from at least one step that the control applies to, no incident of it is without an end, and nothing of the period speaks against it. Incidents from before the period count if they were answered in it. Whether a control is met is for the reader to evaluate.',
  )
  const parts = frameworks.flatMap((name) =>
    framework(
      pen,
      name,
      controls.filter((row) => row.framework === name),
    ),
  )
  const empty = controls.length === 0 ? [pen.prose('No control is mapped.')] : []
  return [pen.h1('Control matrix'), listed, ...parts, ...empty]
}

/** As the finding in the attachment states it. */
const statusOf = ({ status, is_satisfied }: ControlRow) =>
  status === 'not_covered' ? 'not covered' : is_satisfied ? 'satisfied' : 'not satisfied'

function framework(pen: Context['pen'], name: string, rows: readonly ControlRow[]): Block[] {
  return [
    pen.h2(name, 120),
    pen.table({
      columns: [
        { title: 'Control', width: 2.4 },
        { title: 'Status', width: 1 },
        { title: 'What the log shows', width: 3.9 },
        { title: 'What it does not show', width: 3.3 },
      ],
      rows: rows.map((row) => [
        {
          stack: [
            pen.text(row.title, { style: 'cell', bold: true, max: 160 }),
            pen.text(row.control_id, { ...smallId, max: 80 }),
          ],
        },
        row.is_satisfied ? statusOf(row) : pen.text(statusOf(row), { style: 'cell', bold: true }),
        sentences(pen, row.evidence),
        sentences(pen, row.gaps),
      ]),
      width: textWidth,
      empty: 'No control of it is mapped.',
    }),
  ]
}

/** A row must fit on a page. */
const maxSentences = 8

function sentences(pen: Context['pen'], all: readonly string[]): Block {
  if (all.length === 0) return pen.text('–', { style: 'cell' })
  const shown = all.slice(0, maxSentences)
  const left = all.length - shown.length
  const rest = left === 0 ? [] : [`${left} more, in the attachment.`]
  return { stack: shown.concat(rest).map((each) => pen.text(each, { style: 'cell', max: 260, margin: [0, 0, 0, 2] })) }
}

// The table of contents: every heading of a section enters it by itself (`h1` of the pen).
import type { Block } from '../pdf/engine.js'
import type { Context, Section } from './section.js'

export const contents: Section = { pdf }

function pdf({ pen }: Context): readonly Block[] {
  const title = { text: 'Contents', style: 'h1', margin: [0, 0, 0, 14], pageBreak: 'before' }
  return [
    title,
    { toc: { id: 'parts', numberStyle: { bold: true }, textMargin: [0, 3, 0, 3] } },
    pen.text(
      'This file holds the same report for machines: the attachment is OSCAL assessment results in XML, with full texts where a table cuts them. Times are in UTC.',
      { style: 'note', margin: [0, 14, 0, 0] },
    ),
  ]
}

// Lines to sign on.
import { quiet } from '../charts/colours.js'
import type { Block } from '../pdf/engine.js'
import { ruleOf } from '../pdf/marks.js'
import { textWidth } from '../pdf/style.js'
import type { Context, Section } from './section.js'

export const signatures: Section = { pdf }

function pdf({ pen }: Context): readonly Block[] {
  const width = (textWidth - 30) / 2
  const field = (name: string) => ({
    stack: [ruleOf(width, quiet, 0.6), pen.text(name, { style: 'note', margin: [0, 2, 0, 0] })],
    margin: [0, 25, 0, 0],
  })
  const block = (title: string) => ({
    width,
    stack: [pen.text(title, { bold: true, size: 10 }), ...['Name', 'Role', 'Date', 'Signature'].map(field)],
  })
  return [
    {
      stack: [
        { ...pen.h1('Signatures'), needs: 0 },
        pen.prose(
          'The undersigned have read this report. The signature of a person states nothing about the record; the commands above do.',
        ),
        { columns: [block('For the organization'), block('Auditor')], columnGap: 30, margin: [0, 6, 0, 0] },
      ],
      unbreakable: true,
    },
  ]
}

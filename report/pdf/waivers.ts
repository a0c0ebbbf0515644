// Exceptions from policies: which were in effect, until when, and how often they were used.
import { lastDayOf } from '@svc/engine/parts'
import { moment } from '../content/figures.js'
import type { WaiverResult } from '../content/report-data.js'
import type { Context } from './context.js'
import type { Block } from './engine.js'
import { small } from './style.js'

export function waivers({ pen, data }: Context): readonly Block[] {
  const { rows, more } = data.waivers
  return [
    pen.h1('Waivers'),
    pen.prose(
      'A waiver exempts one agent from one policy: its violations are recorded and marked as waived, and do not block. Listed are the waivers in the policy sets that steps of the period were evaluated with. A waiver lasts until the end of its last day (UTC). The reason and the approver are as the manifest states them: the log proves the version of the manifest, and not that the person approved it.',
    ),
    pen.table({
      columns: [
        { title: 'Policy and manifest', width: 3.3 },
        { title: 'Agent', width: 1.7, max: 90 },
        { title: 'Reason and approver, as stated', width: 3.3 },
        { title: 'From, last day (UTC)', width: 1.75 },
        { title: 'Used', width: 0.7, align: 'right' },
      ],
      rows: rows.map((waiver) => [
        policyOf(pen, waiver),
        waiver.agent_name,
        statedIn(pen, waiver),
        {
          stack: [
            pen.text(waiver.from === null ? 'not known' : moment(waiver.from), { style: 'cell' }),
            pen.text(lastDayOf(waiver.until), { style: 'cell', bold: true }),
          ],
        },
        waiver.used,
      ]),
      more: { count: more, what: 'waivers' },
      empty: 'No waiver was in effect on a step of this period.',
    }),
  ]
}

function policyOf(pen: Context['pen'], { policy_name, manifest }: WaiverResult): Block {
  const { path, repo, sha } = manifest
  return {
    stack: [
      pen.text(policy_name, { style: 'cell', bold: true, max: 160 }),
      pen.text([path ?? 'no manifest', ...(repo === null ? [] : [' in ', repo])], { ...small, max: 80 }),
      ...(sha === null ? [] : [pen.text(sha, { ...small, mono: true, size: 6.2 })]),
    ],
    lineHeight: 1.2,
  }
}

function statedIn(pen: Context['pen'], { reason, approved_by }: WaiverResult): Block {
  if (reason === null) return pen.text('Not known: the text of the manifest is not stored.', { style: 'cell' })
  return {
    stack: [
      pen.text(reason, { style: 'cell', max: 300 }),
      pen.text(['Approved by ', approved_by ?? 'not stated'], { style: 'cell', bold: true, max: 120 }),
    ],
  }
}

// Exceptions from policies: which were in effect, until when, and how often they were used.
import { lastDayOf } from '@svc/engine/parts'
import { counted, moment } from '../content/figures.js'
import type { WaiverResult } from '../content/report-data.js'
import { named } from '../controls/sentences.js'
import type { Block } from '../pdf/engine.js'
import { small } from '../pdf/style.js'
import { type Context, type Described, observedList, type Section } from './section.js'

export const waivers: Section = {
  pdf,
  oscal: {
    at: 'waivers',
    title: 'Waivers',
    sentences: ({ waivers: { rows, more } }) => [`${counted(rows.length + more, 'waiver')} of policies in effect.`],
    list: observedList('rows', ({ waivers }) => waivers.rows, observed),
  },
}

function pdf({ pen, data }: Context): readonly Block[] {
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

function observed({ policy_name, agent_id, agent_name, until, used, reason, approved_by }: WaiverResult): Described {
  const stated = reason === null ? 'The text of the manifest is not stored.' : `As the manifest states: ${reason}`
  const by = approved_by === null ? [] : [`As the manifest states, approved by ${named(approved_by)}.`]
  return {
    title: `Waiver of policy ${named(policy_name)} for agent ${named(agent_name)}`,
    description: [`In effect until ${until}: ${counted(used, 'violation')} waived.`, stated, ...by],
    agent_id,
  }
}

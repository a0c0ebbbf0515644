// A report as OSCAL assessment results: who, the plan, one result with all values of the content, and what ids refer to.
import { createHash } from 'node:crypto'
import type { ReportData } from '../content/report-data.js'
import { statementsOf, verdictOf } from '../content/statements.js'
import { isBySender, timesInFull } from '../content/times.js'
import { type ControlRow, controlMatrix, frameworksOf } from '../controls/controls.js'
import { catalogJson, objectiveId, oscalVersion } from '../oscal/catalog.js'
import { propertiesOf, property } from '../oscal/properties.js'
import { schemaTime } from '../oscal/schema-time.js'
import type { Assembly } from '../oscal/shape.js'
import { textEncoding, textEncodingNote } from '../oscal/text.js'
import { namespace, partId } from '../oscal/uuid.js'
import { components } from '../sections/agents/oscal.js'
import { risks } from '../sections/incidents/oscal.js'
import { findings } from '../sections/matrix/findings.js'
import { observations } from './observations.js'

/** The model that XML and JSON are written from; the same for the same data. */
export function assessmentResults(data: ReportData): Assembly {
  const { id } = data.report
  return {
    uuid: partId(id, 'document'),
    metadata: metadata(data),
    'import-ap': { href: `#${partId(id, 'resource/plan')}`, remarks: ['The plan is stated in the back matter.'] },
    results: [result(data, controlMatrix(data))],
    'back-matter': { resources: [plan(data), catalog(data), ...checkpoint(data)] },
  }
}

function metadata({ report }: ReportData): Assembly {
  const party = partId('organization', report.org_id)
  return {
    title: `Report on agents of ${report.organization}`,
    published: schemaTime(report.as_of),
    'last-modified': schemaTime(report.as_of),
    version: '1',
    'oscal-version': oscalVersion,
    'document-ids': [{ scheme: namespace, identifier: report.id }],
    props: [...propertiesOf('report', report), property('text-encoding', textEncoding, 'about')],
    roles: [{ id: 'prepared-by', title: 'Organization that keeps the log and made the report' }],
    parties: [
      {
        uuid: party,
        type: 'organization',
        name: report.organization,
        'external-ids': [{ scheme: namespace, id: report.org_id }],
      },
    ],
    'responsible-parties': [
      { 'role-id': 'prepared-by', 'party-uuids': [party], remarks: ['Made by a program; no assessor took part.'] },
    ],
    remarks: [
      'Every value of the report is a property in our namespace. The property at names its place in the content.',
      textEncodingNote,
    ],
  }
}

function result(data: ReportData, rows: readonly ControlRow[]): Assembly {
  const { id, period, version } = data.report
  return {
    uuid: partId(id, 'result'),
    title: 'What the log shows of the period',
    description: [verdictOf(data).text, ...statementsOf(data).map(({ question, answer }) => `${question} ${answer}`)],
    start: schemaTime(period.from),
    end: schemaTime(period.to),
    props: propertiesOf('summary', data.summary),
    'local-definitions': {
      components: components(data),
      'assessment-assets': {
        'assessment-platforms': [
          { uuid: partId(id, 'platform'), title: 'svc platform', props: [property('version', version)] },
        ],
      },
    },
    'reviewed-controls': reviewedControls(id, rows),
    observations: observations(data),
    risks: risks(data),
    findings: findings(data, rows),
    remarks: [
      'Evidence of a tamper-evident log. It is not the opinion of an assessor.',
      'To verify: get the bundle of this report, and run svc verify with the bundle, your trust policy and this file.',
    ],
  }
}

function reviewedControls(id: string, rows: readonly ControlRow[]): Assembly {
  const covered = rows.filter(({ status }) => status !== 'not_covered')
  const others = rows.filter(({ status }) => status === 'not_covered')
  return {
    description: [
      'Controls on which the log can hold evidence. Their ids are those of the catalog in the back matter.',
    ],
    links: [{ href: `#${partId(id, 'resource/catalog')}`, rel: 'reference' }],
    'control-selections': [{ 'include-controls': covered.map(({ control_id }) => ({ 'control-id': control_id })) }],
    'control-objective-selections': [
      { 'include-objectives': covered.map(({ control_id }) => ({ 'objective-id': objectiveId(control_id) })) },
    ],
    remarks: others.map(
      ({ framework, title, control_id, gaps }) =>
        `Not covered: ${control_id} (${framework}, ${title}). ${gaps.join(' ')}`,
    ),
  }
}

function plan({ report, summary, integrity: { cut_off } }: ReportData): Assembly {
  const { id, period, agent_ids, as_of } = report
  const scope = agent_ids === null ? 'All agents' : `The agents that the property agent_ids lists`
  const text = `${scope} of the organization, from ${period.from} until before ${period.to}, as of ${as_of} (log size ${cut_off}).`
  const read = isBySender(report) ? 'from one day before the period to the cut-off' : 'of the period'
  const method = `Each record ${read} was read from the log, hashed again and compared with the signed tree; totals follow from the records.`
  return {
    uuid: partId(id, 'resource/plan'),
    title: 'Plan: scope, period and method',
    description: [
      text,
      ...timesInFull({ report, summary }),
      method,
      'Content of steps is not part of a report. Lists state how many rows they leave out.',
    ],
    citation: { text },
  }
}

function catalog(data: ReportData): Assembly {
  const { id } = data.report
  const bytes = Buffer.from(catalogJson(frameworksOf(data)), 'utf8')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return {
    uuid: partId(id, 'resource/catalog'),
    title: 'Catalog of the controls',
    description: ['An OSCAL catalog in JSON. The file is part of this document.'],
    rlinks: [{ href: 'controls.json', 'media-type': 'application/json', hashes: [sha(sha256)] }],
    base64: { filename: 'controls.json', 'media-type': 'application/json', value: bytes.toString('base64') },
  }
}

function checkpoint({ report: { id }, integrity }: ReportData): Assembly[] {
  const bytes = Buffer.from(integrity.checkpoint.note, 'utf8')
  if (bytes.length === 0) return []
  return [
    {
      uuid: partId(id, 'resource/checkpoint'),
      title: 'Signed checkpoint of the log',
      description: ['The signed note of the tree that the report reads.'],
      base64: { filename: 'checkpoint.note', 'media-type': 'text/plain', value: bytes.toString('base64') },
    },
  ]
}

const sha = (value: string): Assembly => ({ algorithm: 'SHA-256', value })

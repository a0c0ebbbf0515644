// Our own catalog of the controls that reports refer to, so that their ids resolve without a network. It holds our words only:
// the texts of the frameworks belong to their publishers.
import { createHash } from 'node:crypto'
import { parseJson } from '@svc/proof'
import { frameworks } from '../controls/controls.js'
import type { ControlDefinition, Framework } from '../controls/definition.js'
import { property } from './properties.js'
import type { Assembly } from './shape.js'
import { catalog as shape } from './shapes.js'
import { partId } from './uuid.js'
import { jsonPieces } from './write.js'

/** The release of OSCAL whose schema the documents follow. */
export const oscalVersion = '1.0.6'

/** The time of the last change of the catalog in substance; its version follows from its content. */
const changedAt = '2026-11-23T00:00:00Z'

/** The id of the objective of a control in the catalog. */
export const objectiveId = (control_id: string) => `${control_id}_obj`

/** The catalog as OSCAL JSON; of the known frameworks, the same bytes as docs/controls.json. */
export function catalogJson(of: readonly Framework[] = frameworks): string {
  const text = [...jsonPieces(shape, catalog(of), '\n')].join('')
  return `${JSON.stringify({ catalog: parseJson(text) }, null, 2)}\n`
}

function catalog(of: readonly Framework[]): Assembly {
  const groups = of.map(groupOf)
  const version = createHash('sha256').update(JSON.stringify(groups)).digest('hex').slice(0, 12)
  return {
    uuid: partId('catalog', version),
    metadata: {
      title: 'Controls that reports of svc refer to',
      'last-modified': changedAt,
      version,
      'oscal-version': oscalVersion,
      remarks: [
        'What each control asks is written in our own words; the text of the framework is authoritative.',
        'The objective of a control concerns the evidence of a log only.',
      ],
    },
    groups,
  }
}

function groupOf({ id, title, source, draft, controls }: Framework): Assembly {
  return {
    id: `group-${id}`,
    class: draft ? 'draft' : 'framework',
    title,
    props: [property('source', source)],
    controls: controls.map(controlOf),
  }
}

function controlOf({ control_id: id, title, asks, gaps, find }: ControlDefinition): Assembly {
  const objective =
    'The log of the period holds evidence that bears on the control, and no problem of the period speaks against it.'
  return {
    id,
    class: find === undefined ? 'not-covered' : 'covered',
    title,
    props: [{ name: 'label', value: title.split(':')[0] ?? title }],
    parts: [
      { id: `${id}_smt`, name: 'statement', prose: [asks] },
      ...(find === undefined ? [] : [{ id: objectiveId(id), name: 'assessment-objective', prose: [objective] }]),
      { id: `${id}_gdn`, name: 'guidance', title: 'What the log does not show', prose: gaps },
    ],
  }
}

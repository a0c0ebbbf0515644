// Observations: one for each section that has a part of the content, and one for each row that an auditor looks at by itself.
import { sentence } from '../content/figures.js'
import type { ReportData } from '../content/report-data.js'
import { propertiesOf } from '../oscal/properties.js'
import { schemaTime } from '../oscal/schema-time.js'
import type { Assembly } from '../oscal/shape.js'
import { partId } from '../oscal/uuid.js'
import { componentIds } from '../sections/agents/oscal.js'
import { observationId } from '../sections/section.js'
import { sections } from '../sections/sections.js'

const observed = sections.flatMap(({ oscal = [] }) => oscal)

/** Sections first, then rows. */
export function* observations(data: ReportData): Generator<Assembly> {
  const { id, as_of } = data.report
  const subjects = componentIds(data)
  const made = {
    methods: ['EXAMINE'],
    origins: [{ actors: [{ type: 'assessment-platform', 'actor-uuid': partId(id, 'platform') }] }],
    collected: schemaTime(as_of),
  }
  for (const { at, title, sentences, map, list } of observed)
    yield {
      uuid: observationId(id, at),
      title,
      description: sentences(data).map(sentence),
      props: propertiesOf(at, data[at], { apart: list?.at, map }),
      ...made,
    }
  for (const { at: part, list } of observed)
    for (const { at, row, title, description, type, agent_id } of list?.rows(data, `${part}.${list.at}`) ?? []) {
      const component = agent_id === undefined ? undefined : subjects.get(agent_id)
      yield {
        uuid: observationId(id, at),
        title,
        description,
        props: propertiesOf(at, row),
        types: type === undefined ? [] : [type],
        subjects: component === undefined ? [] : [{ 'subject-uuid': component, type: 'component' }],
        ...made,
      }
    }
}

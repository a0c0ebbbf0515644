// The assemblies of OSCAL 1.0.6 that a report uses, in the order of its schema.
import { attribute, block, line, many, one, own, rows, type Shape, text, texts } from './shape.js'

const prop: Shape = [attribute('name'), attribute('ns'), attribute('value'), attribute('class'), block('remarks')]
const link: Shape = [attribute('href'), attribute('rel'), line('text')]
const props = many('prop', 'props', prop)
const links = many('link', 'links', link)

const documentId: Shape = [attribute('scheme'), own('identifier')]
const role: Shape = [attribute('id'), line('title'), block('description')]
const externalId: Shape = [attribute('scheme'), own('id')]
const party: Shape = [
  attribute('uuid'),
  attribute('type'),
  text('name'),
  many('external-id', 'external-ids', externalId),
  props,
]
const responsibleParty: Shape = [attribute('role-id'), texts('party-uuid', 'party-uuids'), block('remarks')]

const metadata: Shape = [
  line('title'),
  text('published'),
  text('last-modified'),
  text('version'),
  text('oscal-version'),
  many('document-id', 'document-ids', documentId),
  props,
  links,
  many('role', 'roles', role),
  many('party', 'parties', party),
  many('responsible-party', 'responsible-parties', responsibleParty),
  block('remarks'),
]

const hash: Shape = [attribute('algorithm'), own('value')]
const resource: Shape = [
  attribute('uuid'),
  line('title'),
  block('description'),
  props,
  one('citation', [line('text')]),
  many('rlink', 'rlinks', [attribute('href'), attribute('media-type'), many('hash', 'hashes', hash)]),
  one('base64', [attribute('filename'), attribute('media-type'), own('value')]),
  block('remarks'),
]
const backMatter: Shape = [many('resource', 'resources', resource)]

const component: Shape = [
  attribute('uuid'),
  attribute('type'),
  line('title'),
  block('description'),
  props,
  one('status', [attribute('state'), block('remarks')]),
]
const platform: Shape = [attribute('uuid'), line('title'), props, block('remarks')]
const localDefinitions: Shape = [
  rows('component', 'components', component),
  one('assessment-assets', [many('assessment-platform', 'assessment-platforms', platform)]),
]

const selection: Shape = [
  block('description'),
  links,
  many('include-control', 'include-controls', [attribute('control-id')]),
]
const objectives: Shape = [
  block('description'),
  many('include-objective', 'include-objectives', [attribute('objective-id')]),
]
const reviewedControls: Shape = [
  block('description'),
  links,
  many('control-selection', 'control-selections', selection),
  many('control-objective-selection', 'control-objective-selections', objectives),
  block('remarks'),
]

const origin: Shape = [many('actor', 'actors', [attribute('type'), attribute('actor-uuid')])]
const subject: Shape = [attribute('subject-uuid'), attribute('type'), line('title')]
const related: Shape = [attribute('observation-uuid')]
const observation: Shape = [
  attribute('uuid'),
  line('title'),
  block('description'),
  props,
  texts('method', 'methods'),
  texts('type', 'types'),
  many('origin', 'origins', origin),
  many('subject', 'subjects', subject),
  text('collected'),
  block('remarks'),
]
const risk: Shape = [
  attribute('uuid'),
  line('title'),
  block('description'),
  block('statement'),
  text('status'),
  many('origin', 'origins', origin),
  many('related-observation', 'related-observations', related),
]
const target: Shape = [
  attribute('type'),
  attribute('target-id'),
  one('status', [attribute('state'), attribute('reason'), block('remarks')]),
]
const finding: Shape = [
  attribute('uuid'),
  line('title'),
  block('description'),
  props,
  many('origin', 'origins', origin),
  one('target', target),
  many('related-observation', 'related-observations', related),
  block('remarks'),
]

const result: Shape = [
  attribute('uuid'),
  line('title'),
  block('description'),
  text('start'),
  text('end'),
  props,
  one('local-definitions', localDefinitions),
  one('reviewed-controls', reviewedControls),
  rows('observation', 'observations', observation),
  rows('risk', 'risks', risk),
  many('finding', 'findings', finding),
  block('remarks'),
]

export const assessmentResults: Shape = [
  attribute('uuid'),
  one('metadata', metadata),
  one('import-ap', [attribute('href'), block('remarks')]),
  many('result', 'results', result),
  one('back-matter', backMatter),
]

const part: Shape = [attribute('id'), attribute('name'), line('title'), block('prose')]
const control: Shape = [attribute('id'), attribute('class'), line('title'), props, many('part', 'parts', part)]
const group: Shape = [attribute('id'), attribute('class'), line('title'), props, many('control', 'controls', control)]

/** Written as JSON only: in XML, the prose of a part has no element of its own. */
export const catalog: Shape = [attribute('uuid'), one('metadata', metadata), many('group', 'groups', group)]

// The sections of a report, in the order of the PDF. A new section is its file and its line here: the table of contents and the
// observations of OSCAL follow.
import { activity } from './activity.js'
import { agents } from './agents/agents.js'
import { appendix } from './appendix.js'
import { contents } from './contents.js'
import { cover } from './cover.js'
import { glossary } from './glossary.js'
import { incidents } from './incidents/incidents.js'
import { integrity } from './integrity.js'
import { matrix } from './matrix/matrix.js'
import { oversight } from './oversight.js'
import { policies } from './policies.js'
import { policyChanges } from './policy-changes.js'
import { retention } from './retention.js'
import { scope } from './scope.js'
import type { Section } from './section.js'
import { signatures } from './signatures.js'
import { summary } from './summary.js'
import { verify } from './verify.js'
import { waivers } from './waivers.js'

export const sections: readonly Section[] = [
  cover,
  contents,
  summary,
  scope,
  integrity,
  agents,
  activity,
  policies,
  waivers,
  policyChanges,
  incidents,
  oversight,
  retention,
  matrix,
  verify,
  glossary,
  appendix,
  signatures,
]

// Controls of the organization itself: tags of policies that no control of a framework knows.
import { createHash } from 'node:crypto'
import type { PolicyResult } from '../content/report-data.js'
import type { ControlDefinition, Framework } from './definition.js'
import { fromPolicies, named } from './sentences.js'
import { controlIdOf, policiesFor } from './tags.js'

/** As many tags as a page can show; the policies of the others are listed with their tags. */
const maxOwn = 100

/** The tags of these policies as a framework, in the order of the tags; null if a control knows every tag. */
export function ownFramework(policies: readonly PolicyResult[], known: readonly Framework[]): Framework | null {
  const controls = known.flatMap((framework) => framework.controls)
  const tags = [...new Set(policies.flatMap((policy) => policy.controls))].filter(
    (tag) => tag.trim() !== '' && !controls.some((control) => answers(control, tag)),
  )
  if (tags.length === 0) return null
  return {
    id: 'own',
    title: 'Controls of the organization',
    source: 'tags of the policies of this organization',
    draft: false,
    controls: tags.sort().slice(0, maxOwn).map(controlOf),
  }
}

/** True if a policy with only this tag counts for the control. */
function answers(control: ControlDefinition, tag: string): boolean {
  const { rule_types: _, ...tagged } = control
  return policiesFor(tagged, [{ controls: [tag] } as unknown as PolicyResult]).length > 0
}

function controlOf(tag: string): ControlDefinition {
  return {
    control_id: idOf(tag),
    tag,
    title: named(tag),
    asks: 'The tag of policies of this organization; what it asks is not known here.',
    gaps: ['What the control asks is not known to svc: only its policies are shown.'],
    find: (_, policies) => fromPolicies(policies),
  }
}

/** A token of OSCAL; different tags have different ids. */
function idOf(tag: string): string {
  const readable = controlIdOf(tag)
    .replace(/[^a-z0-9._-]+/g, '-')
    .slice(0, 40)
  return `own-${readable}-${createHash('sha256').update(tag).digest('hex').slice(0, 8)}`
}

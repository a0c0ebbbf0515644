// Findings about one policy: it can never apply, never be violated, or never pass.
import { bracketed, quotePath } from '../check/quote.js'
import { conflictIn } from './conflict.js'
import { type AnalysisFinding, type Examined, findingAbout } from './examined.js'
import { factsInWords } from './fact-words.js'
import type { LeafRegion, PolicyRegion, Region } from './region.js'
import { trial } from './trial.js'

type Part = Region & Partial<Pick<LeafRegion, 'factsFor' | 'note' | 'path'> & Pick<PolicyRegion, 'leaves'>>

/** The findings about the policy, and about the rules inside it; at most one for each. */
export function findingsAlone(examined: Examined): AnalysisFinding[] {
  const { leaves, forbids } = examined.region
  const [only] = leaves
  const whole: Part = leaves.length === 1 && only?.path === '' ? only : examined.region
  const found = findingOn(examined, { ...whole, path: '' }, forbids)
  if (found !== null) return [found]
  if (leaves.length === 1 && only?.path === '') return []
  const parts = leaves.flatMap((leaf) => {
    const finding = findingOn(examined, leaf, forbids || !leaf.is_direct)
    const is_own = finding !== null && (leaf.is_direct || finding.id === 'never-applicable')
    return is_own ? [finding] : []
  })
  return parts.slice(0, 3)
}

function findingOn(examined: Examined, part: Part, forbids: boolean): AnalysisFinding | null {
  const { passed, violated } = part
  if (passed.length === 0 && violated.length === 0) {
    const blamed = because(part, 'applied')
    return findingAbout(
      'never-applicable',
      examined,
      `${subject(part)} can never apply: ${blamed}; correct the target, or delete ${it(part)}`,
    )
  }
  if (violated.length === 0) {
    const blamed = because(part, 'violated')
    return findingAbout(
      'never-violated',
      examined,
      `${subject(part)} can never be violated: ${blamed}; tighten its parameters, or delete ${it(part)}`,
    )
  }
  if (passed.length > 0 || forbids) return null
  if (trial([[examined.input, 'violated']], violated) === null) return null
  const blamed = because(part, 'passed')
  return findingAbout(
    'always-violated',
    examined,
    `${subject(part)} is violated by every step that it applies to: ${blamed}; correct its parameters`,
  )
}

function subject({ path = '' }: Part): string {
  return path === '' ? 'the policy' : `its condition ${quotePath(bracketed(`params.${path}`))}`
}

function it({ path = '' }: Part): string {
  return path === '' ? 'the policy' : 'the condition'
}

type Answer = 'applied' | 'violated' | 'passed'

function because(part: Part, answer: Answer): string {
  const { note, leaves = [] } = part
  const own = conflictFor(part, answer)
  if (own !== null) return needsInWords[answer] + own
  if (note !== undefined) return note
  for (const leaf of leaves) {
    const impossible = (['passed', 'violated'] as const).find((one) => leaf[one].length === 0)
    const inner = impossible === undefined ? null : (conflictFor(leaf, impossible) ?? leaf.note ?? null)
    if (inner !== null && impossible !== undefined)
      return `in ${quotePath(bracketed(`params.${leaf.path}`))}, ${needsInWords[impossible]}${inner}`
  }
  return without[answer]
}

/** Facts that exclude each other, in words; null where they are not known. */
function conflictFor({ factsFor }: Pick<Part, 'factsFor'>, answer: Answer): string | null {
  const facts = conflictIn(factsFor?.(answer) ?? []) ?? []
  const words = factsInWords(facts)
  if (words === '') return null
  return `${words}, which ${facts.length === 1 ? 'is never true' : 'exclude each other'}`
}

const needsInWords: Readonly<Record<Answer, string>> = {
  applied: 'it applies only where ',
  violated: 'a violation needs that ',
  passed: 'a pass needs that ',
}

const without: Readonly<Record<Answer, string>> = {
  applied: 'its target and its rule select no common step',
  violated: 'its target selects only steps that pass',
  passed: 'no value and no history lets such a step pass',
}

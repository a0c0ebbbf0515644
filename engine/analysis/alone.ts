// Findings about one policy: it can never apply, never be violated, or never pass.
import { bracketed, quotePath } from '../check/quote.js'
import { type AnalysisFinding, type Examined, findingAbout } from './examined.js'
import { factsInWords } from './fact-words.js'
import type { Fact } from './literal.js'
import type { LeafRegion, Region } from './region.js'
import { trial } from './trial.js'

type Part = Region & Partial<Pick<LeafRegion, 'blame' | 'path'>>

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

function because({ blame }: Part, answer: 'applied' | 'violated' | 'passed'): string {
  const facts: readonly Fact[] = blame?.(answer) ?? blame?.('applied') ?? []
  const words = factsInWords(facts)
  if (words === '') return without[answer]
  const verb = facts.length === 1 ? 'it would need that' : 'it would need at once that'
  return `${verb} ${words}`
}

const without = {
  applied: 'its target and its rule select no common step',
  violated: 'its target selects only steps that pass',
  passed: 'no value and no history lets such a step pass',
}

// Findings about one policy: it can never apply, never be violated, or never pass.
import { type AnalysisFinding, type Examined, findingAbout } from './examined.js'
import { factsInWords } from './fact-words.js'
import type { Answer, PolicyRegion } from './region.js'

/** The finding about the policy alone; null for a policy that can pass and be violated. */
export function findingAlone(examined: Examined): AnalysisFinding | null {
  const { passed, violated, forbids } = examined.region
  const because = (answer: Answer) => reasonOf(examined.region, answer)
  if (passed.length === 0 && violated.length === 0) {
    const message = `the policy can never apply: ${because('applied')}; correct the target, or delete the policy`
    return findingAbout('never-applicable', examined, message)
  }
  if (violated.length === 0) {
    const message = `the policy can never be violated: ${because('violated')}; tighten its parameters, or delete the policy`
    return findingAbout('never-violated', examined, message)
  }
  if (passed.length > 0 || forbids) return null
  const message = `the policy is violated by every step that it applies to: ${because('passed')}; correct its parameters`
  return findingAbout('always-violated', examined, message)
}

function reasonOf({ because }: PolicyRegion, answer: Answer): string {
  const facts = because[answer] ?? []
  const words = factsInWords(facts)
  if (words === '') return without[answer]
  return `${needsInWords[answer]}${words}, which ${facts.length === 1 ? 'is never true' : 'exclude each other'}`
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

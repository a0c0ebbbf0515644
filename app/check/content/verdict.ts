// The conclusion of a check, and the one sentence that says why.
import { changeSentence, changeWords, counted, onOneLine, shortened } from '@svc/engine/parts'
import type { ImpactReport } from '@svc/platform'
import { agentsByFate, type CheckFacts, errorsOf, ungovernedAgents } from '../facts.js'
import type { Conclusion } from '../parts.js'

export interface Verdict {
  readonly conclusion: Conclusion
  /** At most 255 characters, plain text. */
  readonly title: string
  /** The subject of the title: `change` if it is about the agents. */
  readonly kind: 'unchanged' | 'invalid' | 'tests' | 'approval' | 'change'
}

const maxTitle = 255

export function verdictOf(facts: CheckFacts): Verdict {
  const { conclusion, title, kind } = verdict(facts)
  return { conclusion, kind, title: shortened(onOneLine(title), maxTitle - 1) }
}

function verdict(facts: CheckFacts): Verdict {
  const { validation, requirement, changed, loosenings } = facts
  const errors = errorsOf(validation)
  if (errors.length > 0) {
    const files = new Set(errors.map(({ file }) => file))
    const [file = ''] = files
    const where = files.size === 1 ? shortened(file, 100) : counted(files.size, 'file')
    return { conclusion: 'failure', kind: 'invalid', title: `Invalid: ${counted(errors.length, 'error')} in ${where}` }
  }
  const tests = validation.manifests.flatMap((manifest) => manifest.tests)
  const failed = tests.filter(({ passed }) => !passed).length
  if (failed > 0)
    return {
      conclusion: 'failure',
      kind: 'tests',
      title: `Failed: ${failed} of ${counted(tests.length, 'manifest test')} ${failed === 1 ? 'fails' : 'fail'}`,
    }
  if (requirement.kind === 'required') {
    const what = counted(loosenings.length, 'change takes', 'changes take')
    const title = `Approval required: ${what} protection away${changed.length === 0 ? '' : `; ${effectOf(facts)}`}`
    return { conclusion: 'action_required', kind: 'approval', title }
  }
  if (changed.length === 0) {
    const also = facts.checked.length === 0 ? '' : '; what is checked changes'
    return { conclusion: 'neutral', kind: 'unchanged', title: `No manifest changed${also}` }
  }
  return { conclusion: 'success', kind: 'change', title: titleOf(facts) }
}

function titleOf(facts: CheckFacts): string {
  const { impact, diff } = facts
  if (impact?.agents.length === 0) {
    const these = diff.manifests.length === 1 ? 'this manifest' : 'these manifests'
    return `No agent has ${these}: ${changeWords(facts.diff)}`
  }
  const { kept, changed } = agentsByFate(facts)
  if (impact === null || kept.length === 0 || changed.length > 0) return `${directionOf(facts)}: ${effectOf(facts)}`
  const what = diff.manifests.some((one) => one.new === null) ? 'Deleted' : 'Renamed'
  const stays = `${counted(kept.length, 'agent')} ${kept.length === 1 ? 'keeps' : 'keep'} the last version`
  return `${what}: ${stays}; without it, ${effectOf(facts)}`
}

/** The direction of the change of the policies, in a word or two. */
function directionOf({ diff: { counts } }: CheckFacts): string {
  const [stricter, looser] = [counts.added + counts.stricter, counts.removed + counts.looser]
  if (stricter > 0 && looser > 0) return 'Stricter and looser'
  if (looser > 0) return 'Looser'
  if (counts.changed > 0) return 'Changed'
  return stricter > 0 ? 'Stricter' : 'No effective change'
}

function effectOf(facts: CheckFacts): string {
  const { impact, days, diff } = facts
  if (impact === null)
    return diff.manifests.length === 0
      ? 'the policies of every agent stay the same'
      : 'recorded tasks were not replayed'
  const ungoverned = ungovernedAgents(facts).length
  const bare = ungoverned > 0 ? [`${counted(ungoverned, 'agent')} would have no policy left`] : []
  if (impact.agents.length === 0) return 'no agent has these manifests'
  const agents = counted(impact.agents.length, 'agent')
  if (impact.tasks === 0) return [...bare, `no recorded task of ${agents} in ${counted(days, 'day')}`].join('; ')
  return [...bare, taskWords(impact)].join('; ')
}

/** Such as `14 of 212 recorded tasks would now be blocked (3 agents)`. */
function taskWords(impact: ImpactReport): string {
  const hit = impact.agents.filter(({ flipped_tasks }) => impact.flipped_tasks === 0 || flipped_tasks > 0).length
  return `${changeSentence(impact, taskKind(impact))} (${counted(hit, 'agent')})`
}

/** The kind of the tasks of a report: a random sample, or all. */
export function taskKind({ sampled_tasks, recorded_tasks }: ImpactReport): 'sampled' | 'recorded' {
  return sampled_tasks < recorded_tasks ? 'sampled' : 'recorded'
}

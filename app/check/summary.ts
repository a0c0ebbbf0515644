// The summary of a check run: the verdict, what to do, who is affected, and the first steps that change.
import { findingHeads, findingRows, markdownCode } from '@svc/engine'
import { agentPart, flipPart } from './affected.js'
import { addressOf, type CheckFacts, ungovernedAgents } from './facts.js'
import { type Part, pageOf, text } from './fit.js'
import { toDo } from './to-do.js'
import { directionOf, taskWords, type Verdict } from './verdict.js'
import { boldName, counted, cut, listed } from './words.js'

export function summaryOf(facts: CheckFacts, verdict: Verdict): string {
  if (verdict.kind === 'unchanged') return pageOf([text(unchanged(facts))])
  const items = toDo(facts, verdict)
  return pageOf([
    text(`${marks[verdict.conclusion]} ${sentenceOf(facts, verdict)}`),
    ...(items.length === 0
      ? []
      : [text(`### What to do\n\n${items.map((item, index) => `${index + 1}. ${item}`).join('\n')}`)]),
    ...findingPart(facts),
    ...agentPart(facts),
    ...flipPart(facts),
  ])
}

const marks = { failure: '❌', action_required: '✋', success: '✅', neutral: 'ℹ️' } as const

function unchanged({ pull_number }: CheckFacts): string {
  return `This ${pull_number === null ? 'merge group' : 'pull request'} changes no manifest: no policy of an agent changes.`
}

function sentenceOf(facts: CheckFacts, { kind }: Verdict): string {
  const { validation, requirement, impact } = facts
  if (kind === 'invalid') {
    const files = [
      ...new Set(validation.findings.filter(({ severity }) => severity === 'error').map(({ file }) => file)),
    ]
    const shown = listed(
      files.map((file) => markdownCode(cut(file, 200))),
      { max: 3 },
    )
    return `**${shown} cannot be used: ${files.length === 1 ? 'it has' : 'they have'} errors.** Until they are corrected, what the change would do to agents is not known. If it were merged as it is, the last valid version would stay in force.`
  }
  if (kind === 'tests')
    return '**The policies decide otherwise than the tests of the manifests expect.** Either a policy or a test is wrong.'
  if (kind === 'approval' && requirement.kind === 'required')
    return `**A person must approve this change, because it ${looseningWords(facts)}.** The rule applies because ${becauseMarkdown(requirement.because)}.`
  const ungoverned = ungovernedAgents(facts)
  const bare =
    ungoverned.length === 0
      ? ''
      : ` **${counted(ungoverned.length, 'agent')} would be left without any policy: ${listed(ungoverned.map(({ name }) => boldName(name)))}.**`
  const approved =
    requirement.kind === 'approved' ? ` ${listed(requirement.by.map((login) => markdownCode(login)))} approved it.` : ''
  return `**${direction(facts)}${impact === null ? '' : ` ${impactSentence(facts)}`}**${bare}${approved}`
}

function becauseMarkdown(because: string): string {
  return because
    .split(/`([^`]*)`/)
    .map((part, index) => (index % 2 === 1 ? markdownCode(part) : part))
    .join('')
}

function looseningWords({ loosenings }: CheckFacts): string {
  const certain = loosenings.filter(({ is_certain }) => is_certain).length
  const others = loosenings.length - certain
  const parts = [
    ...(certain > 0 ? [`takes protection away in ${counted(certain, 'place')}`] : []),
    ...(others > 0 ? [`may take protection away in ${counted(others, 'place')}`] : []),
  ]
  return parts.join(' and ')
}

function direction(facts: CheckFacts): string {
  const { counts } = facts.diff
  const words = [
    [counts.added, 'added'],
    [counts.stricter, 'stricter'],
    [counts.looser, 'looser'],
    [counts.removed, 'removed'],
    [counts.changed, 'changed in a way that is not certain'],
  ] as const
  const found = words.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return found.length === 0 ? 'No policy changes its effect.' : `${directionOf(facts)}: policies ${listed(found)}.`
}

function impactSentence({ impact, days }: CheckFacts): string {
  if (impact === null) return ''
  if (impact.agents.length === 0) return 'No agent has these manifests.'
  if (impact.replayed_tasks === 0)
    return `${counted(impact.agents.length, 'agent')} ${impact.agents.length === 1 ? 'has' : 'have'} these manifests, and recorded no task in the last ${counted(days, 'day')}.`
  return `${taskWords(impact)}.`
}

function findingPart({ validation, ...facts }: CheckFacts): Part[] {
  const brief = validation.findings.map((finding) => ({ ...finding, file: cut(finding.file, 300) }))
  const rows = findingRows(brief, addressOf(facts))
  if (rows.length === 0) return []
  const more = (count: number) => `${counted(count, 'more finding')}: \`svc validate\` prints all of them.`
  return [{ kind: 'rows', before: '### What to correct', heads: findingHeads, rows, maxBytes: 24_000, more }]
}

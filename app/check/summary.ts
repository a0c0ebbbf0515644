// The summary of a check run: the verdict, what to do, who is affected, and the first steps that change.
import { findingHeads, findingRows, markdownCode, messageMarkdown } from '@svc/engine'
import { agentPart, flipPart, pinnedPart } from './affected.js'
import { changeWords } from './change-words.js'
import { hiddenNote, notReplayed } from './counts-only.js'
import { addressOf, type CheckFacts, errorsOf, ungovernedAgents } from './facts.js'
import { type Part, pageOf, text } from './fit.js'
import { toDo } from './to-do.js'
import { taskWords, type Verdict } from './verdict.js'
import { agentWords, counted, cut, listed } from './words.js'

export function summaryOf(facts: CheckFacts, verdict: Verdict): string {
  if (verdict.kind === 'unchanged') return pageOf([text(unchanged(facts))])
  const items = toDo(facts, verdict)
  return pageOf([
    text(`${markOf(facts, verdict)} ${sentenceOf(facts, verdict)}`),
    ...(items.length === 0
      ? []
      : [text(`### What to do\n\n${items.map((item, index) => `${index + 1}. ${item}`).join('\n')}`)]),
    ...findingPart(facts),
    ...agentPart(facts),
    ...pinnedPart(facts),
    ...flipPart(facts),
    ...notePart(facts),
  ])
}

function notePart({ hidden, is_replayed, impact, base, diff }: CheckFacts): Part[] {
  if (!is_replayed) return diff.compared === 0 ? [] : [text(notReplayed)]
  return hidden === null || impact === null ? [] : [text(hiddenNote(hidden, base.branch))]
}

const marks = { failure: '❌', action_required: '✋', success: '✅', neutral: 'ℹ️', cancelled: 'ℹ️' } as const

/** A change that takes protection away is worth a second look, also where no rule asks for one. */
function markOf({ loosenings, validation }: CheckFacts, { conclusion }: Verdict): string {
  const isDoubtful = loosenings.length > 0 || validation.findings.some(({ severity }) => severity === 'warning')
  return conclusion === 'success' && isDoubtful ? '⚠️' : marks[conclusion]
}

function unchanged({ pull_number }: CheckFacts): string {
  return `This ${pull_number === null ? 'merge group' : 'pull request'} changes no manifest: no policy of an agent changes.`
}

function sentenceOf(facts: CheckFacts, { kind }: Verdict): string {
  const { validation, requirement, impact } = facts
  if (kind === 'invalid') {
    const files = [...new Set(errorsOf(validation).map(({ file }) => file))]
    const shown = listed(
      files.map((file) => markdownCode(cut(file, 200))),
      { max: 3 },
    )
    return `**${shown} cannot be used: ${files.length === 1 ? 'it has' : 'they have'} errors.** Until they are corrected, what the change would do to agents is not known. If it were merged as it is, the last valid version would stay in force.`
  }
  if (kind === 'tests')
    return '**The policies decide otherwise than the tests of the manifests expect.** Either a policy or a test is wrong.'
  if (kind === 'approval' && requirement.kind === 'required')
    return `**A person must approve this change, because it takes protection away, or may do so:** ${looseningWords(facts)}. The rule applies because ${messageMarkdown(requirement.because)}.`
  const ungoverned = ungovernedAgents(facts)
  const bare =
    ungoverned.length === 0
      ? ''
      : ` **${counted(ungoverned.length, 'agent')} would be left without any policy${facts.hidden === null ? `: ${agentWords(facts, ungoverned)}` : ''}.**`
  const approved =
    requirement.kind === 'approved' ? ` ${listed(requirement.by.map((login) => markdownCode(login)))} approved it.` : ''
  return `**${changeWords(facts)}${impact === null ? '' : ` ${impactSentence(facts)}`}**${bare}${approved}`
}

/** What takes protection away, or may; the details have all of it. */
function looseningWords({ loosenings }: CheckFacts): string {
  return listed(
    loosenings.map(({ what }) => messageMarkdown(cut(what, 200))),
    { max: 4 },
  )
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

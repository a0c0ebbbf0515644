// The summary of a check run: the verdict, what to do, who is affected, and the first steps that change.
import {
  capitalized,
  changeWords,
  counted,
  findingHeads,
  findingRows,
  listed,
  markdownCode,
  messageMarkdown,
  shortened,
} from '@svc/engine/parts'
import { addressOf, agentsByFate, type CheckFacts, errorsOf, ungovernedAgents } from '../facts.js'
import { agentPart, flipPart, pinnedPart } from './affected.js'
import { hiddenNote, notReplayed } from './counts-only.js'
import { type Part, pageOf, text } from './fit.js'
import { ifMerged, mergedWords } from './if-merged.js'
import { toDo } from './to-do.js'
import type { Verdict } from './verdict.js'
import { agentWords, plainName, toDoList } from './words.js'

export function summaryOf(facts: CheckFacts, verdict: Verdict): string {
  if (verdict.kind === 'unchanged') return pageOf([text(unchanged(facts))])
  const items = toDo(facts, verdict)
  return pageOf([
    text(`${markOf(facts, verdict)} ${sentenceOf(facts, verdict)}`),
    ...(items.length === 0 ? [] : [text(toDoList(items))]),
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
function markOf({ loosenings, moves, validation }: CheckFacts, { conclusion }: Verdict): string {
  const isDoubtful =
    loosenings.length + moves.length > 0 || validation.findings.some(({ severity }) => severity === 'warning')
  return conclusion === 'success' && isDoubtful ? '⚠️' : marks[conclusion]
}

function unchanged({ pull_number, checked }: CheckFacts): string {
  const change = pull_number === null ? 'merge group' : 'pull request'
  const also = checked.length === 0 ? '' : ' It changes how agents or pull requests are checked: see below.'
  return `This ${change} changes no manifest: no policy of an agent changes.${also}`
}

function sentenceOf(facts: CheckFacts, { kind }: Verdict): string {
  const { validation, requirement } = facts
  if (kind === 'invalid') {
    const files = [...new Set(errorsOf(validation).map(({ file }) => file))]
    const merged = ifMerged(facts)
    const state = merged !== 'in_force' ? 'cannot be used' : `${files.length === 1 ? 'does' : 'do'} not pass this check`
    const shown = listed(
      files.map((file) => markdownCode(shortened(file, 200))),
      { max: 3 },
    )
    return `**${shown} ${state}: ${files.length === 1 ? 'it has' : 'they have'} errors.** Until they are corrected, what the change would do to agents is not known. ${mergedWords[merged]}`
  }
  if (kind === 'tests')
    return `**The policies give other results than the tests expect.** Either a policy or a test is wrong. ${mergedWords.held}`
  if (kind === 'approval' && requirement.kind === 'required')
    return `**An owner of the changed files must approve:** ${looseningWords(facts)}. This is required because ${messageMarkdown(shortened(requirement.because, 400))}.`
  return `${affectedSentence(facts)}${ungovernedSentence(facts)}${approvedSentence(facts)}`
}

/** Who reviewed a change that needs an owner; an owner who is the author has reviewed nothing. */
function approvedSentence({ requirement }: CheckFacts): string {
  if (requirement.kind !== 'approved') return ''
  const names = (logins: readonly string[]) => listed(logins.map((login) => markdownCode(login)))
  if (requirement.reviewers.length > 0) return ` ${names(requirement.reviewers)} approved it.`
  return ` No review was needed: ${names(requirement.by)}, the author, owns the changed files.`
}

/** Whose policies change, and which; the title has the numbers. */
function affectedSentence(facts: CheckFacts): string {
  const { impact, days } = facts
  const words = capitalized(changeWords(facts.diff))
  if (impact === null) return `**${words}.**`
  if (impact.agents.length === 0) return '**No policy of an agent changes**, because no agent has these manifests.'
  const { kept, changed } = agentsByFate(facts)
  const unknown =
    impact.tasks > 0
      ? ''
      : ` What it would do is not known: no task of the last ${counted(days, 'day')} could be replayed.`
  if (changed.length === 0)
    return `**The merge changes nothing yet for ${agentWords(facts, kept, { max: 3 })}:** ${kept.length === 1 ? 'this agent keeps' : 'these agents keep'} the last version of a manifest that is no longer at its path.${unknown}`
  return `**${words} for ${agentWords(facts, changed, { max: 3 })}**${policyNames(facts)}.${unknown}`
}

/** The names of the policies and waivers that change, after a colon. */
function policyNames({ diff: { manifests } }: CheckFacts): string {
  const names = manifests.flatMap(({ policies, waivers }) => [
    ...policies.filter(({ change }) => change !== 'none').map(({ name }) => name),
    ...waivers.map(({ policy }) => policy),
  ])
  const shown = [...new Set(names)].map((name) => `“${plainName(name)}”`)
  return shown.length === 0 ? '' : `: ${listed(shown, { max: 3 })}`
}

function ungovernedSentence(facts: CheckFacts): string {
  const agents = ungovernedAgents(facts)
  if (agents.length === 0) return ''
  const kept = new Set(agentsByFate(facts).kept)
  const when = agents.every((agent) => kept.has(agent)) ? 'Without that version, ' : ''
  const who = `${counted(agents.length, 'agent')} would have no policy left: ${agentWords(facts, agents, { max: 3 })}`
  return ` ${when}**${who}.**`
}

/** The changes that take protection away, or may; the details have all of them. */
function looseningWords({ loosenings }: CheckFacts): string {
  return listed(
    loosenings.map(({ what }) => messageMarkdown(shortened(what, 200))),
    { max: 4 },
  )
}

function findingPart({ validation, ...facts }: CheckFacts): Part[] {
  const brief = validation.findings.map((finding) => ({ ...finding, file: shortened(finding.file, 300) }))
  const rows = findingRows(brief, addressOf(facts))
  if (rows.length === 0) return []
  const more = (count: number) => `${counted(count, 'more finding')}: \`svc validate\` prints all of them.`
  return [{ kind: 'rows', before: '### What to correct', heads: findingHeads, rows, maxBytes: 24_000, more }]
}

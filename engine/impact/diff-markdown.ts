// A diff as Markdown, for a pull request or the summary of a job. Names come from files and are escaped.
import { markdownText as inMarkdown, markdownCode } from '../findings/markdown.js'
import { row, shortened, table } from '../findings/markdown-parts.js'
import type { DiffReport, FileDiff } from './diff-files.js'
import type { AgentChange, MemberChange, PolicyChange } from './diff-result.js'
import {
  byChange,
  changeWord,
  manifestWords,
  memberWords,
  ownMembers,
  summaryWords,
  waiverWords,
} from './diff-words.js'

/** The report as Markdown, the summary first. */
export function diffMarkdown(report: DiffReport): string {
  const ungoverned = report.ungoverned_agents.map(
    (key) => `- ${markdownCode(key)} is **ungoverned**: no policy is left`,
  )
  const parts = [
    markdownText(summaryWords(report)),
    ...(ungoverned.length > 0 ? [ungoverned.join('\n')] : []),
    ...report.manifests.flatMap(manifestParts),
  ]
  return `${parts.join('\n\n')}\n`
}

function manifestParts(diff: FileDiff): string[] {
  const rows = [
    ...diff.policies.toSorted(byChange).map(policyRow),
    ...diff.waivers.map((waiver) => row(mark(waiver.change), markdownText(waiverWords(waiver)), '')),
  ]
  const agents = diff.agents.filter(({ policies }) => policies.length > 0)
  return [
    `### ${markdownCode(diff.path)} ${markdownText(manifestWords(diff))}`,
    ...(rows.length > 0 ? [table(['Change', 'Policy', 'What differs'], rows)] : []),
    ...(agents.length > 0 ? [table(['Agent', 'Risk', 'Changes'], agents.map(agentRow))] : []),
  ]
}

function policyRow(policy: PolicyChange): string {
  return row(mark(policy.change), nameOf(policy), policy.members.map(memberPart).join('<br>'))
}

function memberPart(member: MemberChange): string {
  const { path, what } = memberWords(member)
  return `${markdownCode(shortened(path))} ${markdownText(what)}`
}

function agentRow({ agent_key, name, risk_classification, policies }: AgentChange): string {
  const changes = policies
    .toSorted(byChange)
    .map((policy) => [`${mark(policy.change)} ${nameOf(policy)}`, ...ownMembers(policy).map(memberPart)].join(', '))
  const agent = name === null ? markdownCode(agent_key) : `${markdownCode(agent_key)} ${markdownText(name)}`
  return row(agent, risk_classification, changes.join('<br>'))
}

/** What allows more is in bold. */
function mark(change: PolicyChange['change']): string {
  return change === 'looser' || change === 'removed' ? `**${change}**` : changeWord(change)
}

function nameOf({ name, old_name }: PolicyChange): string {
  return markdownText(old_name === undefined ? name : `${name} (was ${old_name})`)
}

/** Names and values have no limit in a file. */
function markdownText(text: string): string {
  return inMarkdown(shortened(text))
}

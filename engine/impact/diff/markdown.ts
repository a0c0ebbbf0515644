// A diff as Markdown, for a pull request or the summary of a job. Names come from files and are escaped.
import { markdownText as inMarkdown, markdownCode } from '../../findings/markdown.js'
import { row, shortened, table } from '../../findings/markdown-parts.js'
import { capitalized } from '../../findings/words.js'
import type { DiffReport, FileDiff } from './files.js'
import type { AgentChange, MemberChange, PolicyChange } from './result.js'
import {
  byChange,
  changeWord,
  manifestWords,
  memberWords,
  notCompared,
  ownMembers,
  summaryWords,
  waiverWords,
} from './words.js'

/** The words for changes, for a reader who has not seen them. */
export const changeLegend =
  'A policy that is **added** or **stricter** allows nothing that was blocked before. One that is **removed** or **looser** stops less than before. For **changed** neither is certain.'

/** The report as Markdown, the summary first. `left_out`: paths of manifests that were not compared. */
export function diffMarkdown(report: DiffReport, left_out: readonly string[] = []): string {
  const ungoverned = report.ungoverned_agents.map(
    (key) => `- ${markdownCode(key)} is **ungoverned**: no policy is left`,
  )
  const parts = [
    markdownText(summaryWords(report)),
    ...(ungoverned.length > 0 ? [ungoverned.join('\n')] : []),
    ...notCompared(left_out.map((path) => markdownCode(shortened(path, 200)))).map(
      (words) => `**${capitalized(words)}**`,
    ),
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
    .map((policy) => [policyMarkdown(policy), ...ownMembers(policy).map(memberPart)].join(', '))
  const agent = name === null ? markdownCode(agent_key) : `${markdownCode(agent_key)} ${markdownText(name)}`
  return row(agent, risk_classification, changes.join('<br>'))
}

/** The change of a policy, and its name. */
export function policyMarkdown(policy: PolicyChange): string {
  return `${mark(policy.change)} ${nameOf(policy)}`
}

/** A change that allows more is in bold. */
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

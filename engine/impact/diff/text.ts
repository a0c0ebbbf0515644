// A diff as text for a terminal. Names come from files: every line is made printable before it is painted.
import { printable } from '@svc/proof'
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

/** Paints a printable text for a kind of change. */
export type Paint = (change: PolicyChange['change'], text: string) => string

/** The lines of the report, the summary last. `left_out`: paths of manifests that were not compared. */
export function diffText(
  report: DiffReport,
  left_out: readonly string[] = [],
  paint: Paint = (_, text) => text,
): string[] {
  const ungoverned = report.ungoverned_agents.map((agent_key) =>
    paint('removed', printable(`${agent_key} is ungoverned: no policy is left`)),
  )
  return [
    ...report.manifests.flatMap((diff) => [...manifestLines(diff, paint), '']),
    ...ungoverned,
    ...(ungoverned.length > 0 ? [''] : []),
    printable(summaryWords(report)),
    ...notCompared(left_out).map(printable),
  ]
}

function manifestLines(diff: FileDiff, paint: Paint): string[] {
  const policies = diff.policies.toSorted(byChange).flatMap((policy) => policyLines(policy, paint))
  const waivers = diff.waivers.map((waiver) => changeLine(waiver.change, waiverWords(waiver), paint))
  const agents = diff.agents.filter((agent) => agent.policies.length > 0).flatMap((agent) => agentLines(agent, paint))
  return [
    printable(`${diff.path}  ${manifestWords(diff)}`),
    ...policies,
    ...waivers,
    ...(agents.length > 0 ? ['  agents', ...agents] : []),
  ]
}

/** The width of the longest word for a change. */
const width = 'no effect'.length

function changeLine(change: PolicyChange['change'], text: string, paint: Paint): string {
  return `  ${paint(change, changeWord(change).padEnd(width))}  ${printable(text)}`
}

function policyLines(policy: PolicyChange, paint: Paint): string[] {
  return [changeLine(policy.change, nameOf(policy), paint), ...policy.members.map(memberLine)]
}

function memberLine(member: MemberChange): string {
  const { path, what } = memberWords(member)
  return `${' '.repeat(width + 6)}${printable(`${path} ${what}`)}`
}

function nameOf({ name, old_name }: PolicyChange): string {
  return old_name === undefined ? name : `${name} (was ${old_name})`
}

function agentLines({ agent_key, name, risk_classification, policies }: AgentChange, paint: Paint): string[] {
  const known = [...(name === null ? [] : [name]), risk_classification].join(', ')
  const lines = policies
    .toSorted(byChange)
    .flatMap((policy) => [changeLine(policy.change, nameOf(policy), paint), ...ownMembers(policy).map(memberLine)])
    .map((line) => `    ${line}`)
  return [`    ${printable(`${agent_key} (${known})`)}`, ...lines]
}

// What a person does next: numbered, each item with the line to open or the person to ask.
import { type Finding, markdownCode, messageMarkdown, placeMarkdown } from '@svc/engine'
import { addressOf, type CheckFacts, errorsOf, placeOfPolicy, ungovernedAgents } from './facts.js'
import type { MissingApproval } from './review.js'
import type { Verdict } from './verdict.js'
import { agentWords, boldName, counted, cut, listed } from './words.js'

/** Errors and tests that are named; the tables have all of them. */
const maxNamed = 5

/** The items of the list, as Markdown. */
export function toDo(facts: CheckFacts, { kind }: Verdict): string[] {
  const again = 'Push the correction to this pull request: the check runs again by itself.'
  if (kind === 'invalid') return [...corrections(facts), again]
  if (kind === 'tests') return [...failedTests(facts), again]
  const ungoverned = ungovernedItems(facts)
  if (kind === 'approval') return [...approvals(facts), ...ungoverned, ...afterMerge(facts), unwanted]
  return [...ungoverned, ...warnings(facts), ...effects(facts), ...afterMerge(facts)]
}

const unwanted = 'If the change is not wanted, close the pull request: nothing has changed for any agent.'

function corrections(facts: CheckFacts): string[] {
  const errors = errorsOf(facts.validation)
  const more = errors.length - maxNamed
  return [
    ...errors
      .slice(0, maxNamed)
      .map((finding) => `Correct ${placeOf(facts, finding)}: ${messageMarkdown(cut(finding.message, 400))}.`),
    ...(more > 0 ? [`Correct ${counted(more, 'more error')}: the table below has the line of each.`] : []),
  ]
}

function failedTests(facts: CheckFacts): string[] {
  const failed = facts.validation.manifests.flatMap(({ tests }) => tests.filter(({ passed }) => !passed))
  const more = failed.length - maxNamed
  return [
    ...failed
      .slice(0, maxNamed)
      .map(
        (test) =>
          `Open the test ${boldName(test.name)} at ${placeOf(facts, test)}: ${messageMarkdown(cut(test.failures.join('; '), 400))}. Correct the policy, or the test if the new decision is the right one.`,
      ),
    ...(more > 0 ? [`Do the same for ${counted(more, 'more failed test')}: “Details” below has all of them.`] : []),
  ]
}

function warnings({ validation, settings_findings, ...facts }: CheckFacts): string[] {
  const found = validation.findings.filter(({ severity }) => severity === 'warning')
  const [first] = found
  const [setting] = settings_findings
  return [
    ...(first === undefined
      ? []
      : [
          `Read ${counted(found.length, 'warning')} below, the first at ${placeMarkdown(cut(first.file, 300), first.line, addressOf(facts))}.`,
        ]),
    ...(setting === undefined
      ? []
      : [
          `Correct ${markdownCode(`${setting.file}:${setting.line}`)} in ${markdownCode(cut(facts.base.branch, 100))}, because its settings do not apply: ${messageMarkdown(cut(setting.message, 400))}.`,
        ]),
  ]
}

function approvals({ requirement, head_sha, base }: CheckFacts): string[] {
  if (requirement.kind !== 'required') return []
  const shown = requirement.missing.slice(0, maxNamed)
  const more = requirement.missing.length - shown.length
  const withOwner = requirement.missing.some(({ users }) => users.length > 0)
  return [
    ...shown.map((one) => approvalItem(one, base.branch)),
    ...(more > 0
      ? [`Get the same for ${counted(more, 'more path')}: “Changes of what is checked” and the diff name them.`]
      : []),
    ...(withOwner
      ? [
          `The owner reads “Who is affected” below, then opens **Files changed**, **Review changes**, **Approve**. The approval counts for the commit ${markdownCode(head_sha.slice(0, 12))} only, from a person who may push; the check runs again by itself.`,
        ]
      : []),
  ]
}

function approvalItem({ path, users, unresolved }: MissingApproval, branch: string): string {
  const file = markdownCode(cut(path, 300))
  if (users.length > 0)
    return `Ask ${listed(users.map(markdownCode), { last: 'or' })}, ${users.length === 1 ? 'who owns' : 'who own'} ${file}, to approve.`
  const teams =
    unresolved.length === 0
      ? ''
      : ` It names ${listed(unresolved.map((one) => markdownCode(cut(one, 100))))}, whose members this check cannot read.`
  return `Name a person as the owner of ${file} in the file \`CODEOWNERS\` of ${markdownCode(cut(branch, 100))}: no login is there for this path.${teams} Merge that first, then ask this person to approve.`
}

function ungovernedItems(facts: CheckFacts): string[] {
  const agents = ungovernedAgents(facts)
  const moved = facts.moves.filter(({ from }) =>
    facts.impact?.agents.some(({ manifest_paths }) => manifest_paths.includes(from)),
  )
  return [
    ...(agents.length === 0
      ? []
      : [
          `Assign another manifest to ${agentWords(facts, agents, { isBold: true })} before the merge, or restore the policies: ${agents.length === 1 ? 'this agent' : 'each of these agents'} would be left without any policy.`,
        ]),
    ...moved
      .slice(0, maxNamed)
      .map(
        ({ from, to }) =>
          `Assign ${markdownCode(cut(to, 300))} to the agents that have ${markdownCode(cut(from, 300))} now: assignments name a path, and do not follow a file that moves.`,
      ),
  ]
}

function effects(facts: CheckFacts): string[] {
  const { impact, diff } = facts
  if (impact === null || impact.first_flips.total === 0) {
    const { added, removed, stricter, looser, changed } = diff.counts
    return added + removed + stricter + looser + changed === 0
      ? []
      : ['Read “What changes” below. If it is what you want, merge: no approval is required by this check.']
  }
  const [first] = impact.first_flips.listed
  const cause = first?.flip.policies[0]
  const place = cause === undefined ? null : placeOfPolicy(facts, cause.name, cause.manifest)
  const at = place?.is_head === true ? ` at ${placeOf(facts, place)}` : ''
  const what =
    impact.newly_blocked.tasks > 0
      ? 'work that would now stop'
      : impact.newly_asked.tasks > 0
        ? 'work that would now wait for a person'
        : 'work that was stopped and would now go on'
  return [
    facts.hidden === null
      ? `Read “First steps that change” below: each row is ${what}.`
      : `Read “Who is affected” below: the numbers count ${what}.`,
    `If a step there must keep its old outcome, change the policy ${cause === undefined ? '' : `(the first is ${boldName(cause.name)}${at})`}, and push again. If the new outcomes are what you want, merge.`,
  ]
}

function afterMerge(facts: CheckFacts): string[] {
  const { impact, loosenings, diff } = facts
  if (impact === null)
    return diff.manifests.length === 0 ? ['After the merge, no agent changes: its policies are the same.'] : []
  if (impact.agents.length === 0)
    return ['After the merge, no agent changes: an operator assigns a manifest with `svc assign-manifest`.']
  const deleted = new Set(diff.manifests.filter((one) => one.new === null).map(({ path }) => path))
  const isKept = (path: string) => deleted.has(path) || facts.moves.some(({ from }) => from === path)
  const [kept, changed] = [
    impact.agents.filter(({ manifest_paths }) => manifest_paths.some(isKept)),
    impact.agents.filter(({ manifest_paths }) => !manifest_paths.every(isKept)),
  ].map((agents) => agentWords(facts, agents, { max: 3 }))
  const held = loosenings.some(({ is_certain }) => is_certain)
    ? ' A version that takes protection from a critical policy is held: `svc list-assignments` shows it, and an operator puts it in force with `svc approve-resync ID`.'
    : ''
  return [
    ...(changed === ''
      ? []
      : [`After the merge, the new version is in force for ${changed} within minutes, from the next step on.${held}`]),
    ...(kept === ''
      ? []
      : [
          `After the merge, the last version of a manifest that is gone stays in force for ${kept}, until an operator removes its assignment with \`svc unassign-manifest ID\`. The numbers below are those after that.`,
        ]),
  ]
}

function placeOf(facts: CheckFacts, { file, line }: Pick<Finding, 'file' | 'line'>): string {
  return placeMarkdown(cut(file, 300), line, addressOf(facts))
}

// The next actions of a person: numbered, each item with the line to open or the person to ask.
import {
  boldName,
  counted,
  type Finding,
  listed,
  markdownCode,
  messageMarkdown,
  placeMarkdown,
  shortened,
} from '@svc/engine/parts'
import type { ImpactReport } from '@svc/platform'
import { addressOf, agentsByFate, type CheckFacts, errorsOf, placeOfPolicy, ungovernedAgents } from '../facts.js'
import type { MissingApproval } from '../rules/review.js'
import type { Verdict } from './verdict.js'
import { agentWords } from './words.js'

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

function corrections({ validation }: CheckFacts): string[] {
  const errors = errorsOf(validation)
  const rows =
    errors.length === 1
      ? 'the error in the table below: its row has'
      : `the ${counted(errors.length, 'error')} in the table below: each row has`
  return [`Correct ${rows} the line, and what to write instead.`]
}

function failedTests(facts: CheckFacts): string[] {
  const failed = facts.validation.manifests.flatMap(({ tests }) => tests.filter(({ passed }) => !passed))
  const more = failed.length - maxNamed
  return [
    ...failed
      .slice(0, maxNamed)
      .map(
        (test) =>
          `Open the test ${boldName(test.name)} at ${placeOf(facts, test)}: ${messageMarkdown(shortened(test.failures.join('; '), 400))}. Correct the policy, or the test if the new result is the right one.`,
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
          `Read ${counted(found.length, 'warning')} below, the first at ${placeMarkdown(shortened(first.file, 300), first.line, addressOf(facts))}.`,
        ]),
    ...(setting === undefined
      ? []
      : [
          `Correct ${markdownCode(`${setting.file}:${setting.line}`)} in ${markdownCode(shortened(facts.base.branch, 100))}, because its settings do not apply: ${messageMarkdown(shortened(setting.message, 400))}.`,
        ]),
  ]
}

function approvals({ requirement, head_sha, base, impact }: CheckFacts): string[] {
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
          `The owner ${impact === null ? '' : 'reads “Who is affected” below, then '}opens **Files changed**, **Review changes**, **Approve**. The approval counts for the commit ${markdownCode(head_sha.slice(0, 12))} only, from a person who may push; the check runs again by itself.`,
        ]
      : []),
  ]
}

function approvalItem({ path, users, unresolved }: MissingApproval, branch: string): string {
  const file = markdownCode(shortened(path, 300))
  if (users.length > 0)
    return `Ask ${listed(users.map(markdownCode), { last: 'or' })}, ${users.length === 1 ? 'who owns' : 'who own'} ${file}, to approve.`
  const teams =
    unresolved.length === 0
      ? ''
      : ` It names ${listed(unresolved.map((one) => markdownCode(shortened(one, 100))))}, whose members this check cannot read.`
  return `Name a person as the owner of ${file} in the file \`CODEOWNERS\` of ${markdownCode(shortened(branch, 100))}: no login is there for this path.${teams} Merge that first, then ask this person to approve.`
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
          `Assign another manifest to ${agentWords(facts, agents, { isBold: true })}, or restore the policies: ${agents.length === 1 ? 'this agent has' : 'these agents have'} no other policy.`,
        ]),
    ...moved
      .slice(0, maxNamed)
      .map(
        ({ from, to }) =>
          `Assign ${markdownCode(shortened(to, 300))} to the agents that have ${markdownCode(shortened(from, 300))} now: assignments name a path, and do not follow a file that moves.`,
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
  const isKept = agentsByFate(facts).changed.length === 0
  const otherwise = `change the policy${cause === undefined ? '' : ` (the first is ${boldName(cause.name)}${at})`}, and push again`
  return [
    facts.hidden === null
      ? `Read “First steps that change” below: each row is ${effectWords(impact)}. Is that right?`
      : `Read “Who is affected” below: the numbers count ${effectWords(impact)}. Is that right?`,
    `If it is, merge. If not, ${isKept ? 'restore the manifest at its path' : otherwise}.`,
  ]
}

function effectWords({ newly_blocked_tasks, newly_asked_tasks, no_longer_blocked_tasks }: ImpactReport): string {
  const now = [...(newly_blocked_tasks > 0 ? ['stop'] : []), ...(newly_asked_tasks > 0 ? ['wait for a person'] : [])]
  const kinds = [
    ...(now.length > 0 ? [`would now ${now.join(' or ')}`] : []),
    ...(no_longer_blocked_tasks > 0 ? ['was stopped and would now go on'] : []),
  ]
  return `work that ${kinds.length === 0 ? 'would end otherwise' : kinds.join(', or ')}`
}

function afterMerge(facts: CheckFacts): string[] {
  const { impact, loosenings, diff } = facts
  if (impact === null)
    return diff.manifests.length === 0 ? ['After the merge, no agent changes: its policies are the same.'] : []
  if (impact.agents.length === 0)
    return [
      'To put a manifest on an agent after the merge, an operator runs `svc assign-manifest --agent-id AGENT --repo-id ID --manifest PATH`.',
    ]
  const { partly, changed } = agentsByFate(facts)
  const [kept, next] = [partly, changed].map((agents) => agentWords(facts, agents, { max: 3 }))
  const held = loosenings.some(({ is_certain }) => is_certain)
    ? ' If it takes protection from a critical policy, it is held until an operator runs `svc approve-resync ID`; `svc list-assignments` shows the id.'
    : ''
  const untested = facts.are_tests_run
    ? ''
    : ' The settings have `tests: off`, so that no test ran here: the platform runs the tests of the new version and, if one fails, holds it in the same way.'
  return [
    ...(next === ''
      ? []
      : [
          `After the merge, the new version is in force for ${next} within minutes, from the next step on.${held}${untested}`,
        ]),
    ...(kept === ''
      ? []
      : [
          `After the merge, the last version stays in force for ${kept} until an operator runs \`svc unassign-manifest ID\`. The numbers below are those after that.`,
        ]),
  ]
}

function placeOf(facts: CheckFacts, { file, line }: Pick<Finding, 'file' | 'line'>): string {
  return placeMarkdown(shortened(file, 300), line, addressOf(facts))
}

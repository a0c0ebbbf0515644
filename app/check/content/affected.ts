// Who is affected, and which recorded step would be the first to end otherwise.
import {
  boldName,
  type Cause,
  capitalized,
  counted,
  listed,
  markdownCode,
  placeMarkdown,
  row,
  shortened,
  stepCells,
  stepHeads,
  taskChanges,
} from '@svc/engine/parts'
import type { ImpactAgent, ImpactReport, TaskFlip } from '@svc/platform'
import { addressOf, type CheckFacts, placeOfPolicy } from '../facts.js'
import { type Part, text } from './fit.js'
import { agentCell, agentWords, plainName } from './words.js'

export function agentPart({ impact, hidden }: CheckFacts): Part[] {
  if (impact === null || impact.agents.length === 0) return []
  if (hidden !== null) return [totalPart(impact)]
  const shown = taskChanges.filter(([name], index) => index === 0 || impact[name] > 0)
  const isQuiet = ({ tasks, policies_before, policies_after }: ImpactAgent) =>
    tasks === 0 && (policies_after > 0 || policies_before === 0)
  const quiet = impact.agents.filter(isQuiet)
  const isShort = impact.agents.length <= maxQuiet
  const rows = isShort ? impact.agents : impact.agents.filter((agent) => !isQuiet(agent))
  const others = quiet.map(({ name }) => plainName(name))
  return [
    {
      kind: 'rows',
      before: '### Who is affected',
      heads: ['Agent', 'Risk level', 'Policies', 'Tasks replayed', ...shown.map(headOf)],
      rows: rows
        .toSorted(byEffect)
        .map((agent) =>
          row(
            agentCell(agent),
            agent.risk_classification,
            policyCell(agent),
            `${agent.tasks}`,
            ...shown.map(([name]) => taskCell(agent[name])),
          ),
        ),
      maxBytes: 16_000,
      more: (count) => `${counted(count, 'more agent')}.`,
    },
    ...(isShort || quiet.length === 0
      ? []
      : [text(`${counted(quiet.length, 'agent')} without a replayed task, not in the table: ${listed(others)}.`)]),
  ]
}

/** The numbers of all agents together. */
function totalPart(impact: ImpactReport): Part {
  const heads = ['Agents', 'Tasks replayed', ...taskChanges.map(headOf)]
  const numbers = taskChanges.map(([name]) => taskCell(impact[name]))
  const rows = [row(`${impact.agents.length}`, `${impact.tasks}`, ...numbers)]
  return { kind: 'rows', before: '### Who is affected', heads, rows, maxBytes: 1000, more: () => '' }
}

function headOf([, what]: (typeof taskChanges)[number]): string {
  return capitalized(what)
}

/** Agents up to which those without tasks are in the table. */
const maxQuiet = 20

/** Agents that keep their version: the change does not reach them. */
export function pinnedPart(facts: CheckFacts): Part[] {
  const agents = facts.impact?.pinned_agents ?? []
  if (agents.length === 0) return []
  const [has, keeps] = agents.length === 1 ? ['has', 'keeps'] : ['have', 'keep']
  return [
    text(`Not affected: ${agentWords(facts, agents, { isBold: true })} ${has} a pinned version, and ${keeps} it.`),
  ]
}

/** Agents that lose every policy first, then those with the most tasks that are blocked now. */
function byEffect(a: ImpactAgent, b: ImpactAgent): number {
  const lost = ({ policies_before, policies_after }: ImpactAgent) => Number(policies_before > 0 && policies_after === 0)
  return lost(b) - lost(a) || taskChanges.map(([name]) => b[name] - a[name]).find((difference) => difference !== 0) || 0
}

function policyCell({ policies_before, policies_after }: ImpactAgent): string {
  if (policies_before > 0 && policies_after === 0) return `${policies_before} → **0, UNGOVERNED**`
  return policies_before === policies_after ? `${policies_after}` : `${policies_before} → ${policies_after}`
}

function taskCell(tasks: number): string {
  return tasks === 0 ? '0' : `**${tasks}**`
}

/** The flips of this part; GitHub folds nothing in a check run. */
const maxFlips = 20

/** A table for each agent, so that its name is not in each row. */
export function flipPart(facts: CheckFacts): Part[] {
  const { impact, hidden } = facts
  if (impact === null || hidden !== null || impact.first_flips.total === 0) return []
  const { total, listed: flips } = impact.first_flips
  const shown = flips.slice(0, maxFlips)
  const keys = [...new Set(shown.map(({ agent_key }) => agent_key))]
  const heading = '### First steps that change\n\nFor each recorded task the first step that would end otherwise.'
  return keys.map((key, index) => ({
    kind: 'rows',
    before: `${index === 0 ? `${heading}\n\n` : ''}${agentLine(facts, key)}`,
    heads: stepHeads(true),
    rows: shown.filter(({ agent_key }) => agent_key === key).map((flip) => flipRow(flip, facts)),
    maxBytes: 24_000,
    more: (count) => `${counted(count, 'more task')}.`,
    left_out: index === keys.length - 1 ? total - shown.length : 0,
  }))
}

function agentLine({ impact }: CheckFacts, key: string): string {
  const agent = impact?.agents.find(({ agent_key }) => agent_key === key)
  const code = markdownCode(shortened(key, 100))
  return agent === undefined ? code : `${boldName(agent.name)} ${code}`
}

function flipRow({ flip, blocked_step, change }: TaskFlip, facts: CheckFacts): string {
  const placeOf = (cause: Cause) => lineOf(cause, facts)
  const [task, step, outcome, why] = stepCells(flip, placeOf)
  const later = blocked_step === null ? 'blocked at its end' : `step ${blocked_step}: blocked`
  const isLater = change === 'newly_blocked' && flip.after !== 'block'
  return row(task, step, `${outcome}${isLater ? `<br>**${later}**` : ''}`, why)
}

function lineOf({ manifest, name }: Cause, facts: CheckFacts): string {
  const place = placeOfPolicy(facts, name, manifest)
  if (place === null) return manifest === null ? '' : markdownCode(shortened(manifest, 100))
  const { file, line, is_head } = place
  return placeMarkdown(
    shortened(file, 300),
    line,
    addressOf(is_head ? facts : { ...facts, head_sha: facts.base.commit }),
  )
}

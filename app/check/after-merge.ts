// After a merge: which agents have the new version, and which have not, with the reason and the remedy.
import {
  boldName,
  counted,
  listed,
  type ManifestDiff,
  markdownCode,
  messageMarkdown,
  policyMarkdown,
  row,
  shortened,
} from '@svc/engine/parts'
import type { AssignmentState, InForce } from '@svc/platform'
import { runCheck } from './check-run.js'
import type { CheckContent } from './content/content.js'
import { hiddenNote } from './content/counts-only.js'
import { type Part, pageOf, text } from './content/fit.js'
import { agentCell, toDoList } from './content/words.js'
import type { CheckParts, Conclusion } from './parts.js'

/** The name of the check run of a commit on a followed branch. */
const inForceName = 'svc / in force'

/** Writes the check run of a commit once its branch was read. Rejects where another try can help. */
export async function reportMerge(
  parts: Pick<CheckParts, 'checks' | 'clock' | 'warn'> & { readonly inForce: () => Promise<ShownInForce> },
  commit_sha: string,
): Promise<void> {
  const { checks, clock, warn, inForce } = parts
  await runCheck({ checks, clock, warn, name: inForceName }, commit_sha, async () => contentOfMerge(await inForce()))
}

/** The versions in force, and why names of agents are left out; null if they are shown. */
interface ShownInForce {
  readonly report: InForce
  readonly hidden: 'public' | 'setting' | null
  readonly branch: string
}

/** The content of the check run; without names it has numbers only. */
export function contentOfMerge({ report, hidden, branch }: ShownInForce): CheckContent {
  const content = inForceContent(report)
  if (hidden === null) return content
  const { conclusion, title } = content
  const where = '`svc list-assignments` shows an operator which agents these are, and what to do for each.'
  const mark = report.counts.kept > 0 ? '⚠️' : '✅'
  return {
    ...content,
    conclusion,
    summary: pageOf([text(`${mark} **${title}.**`), text(where), text(hiddenNote(hidden, branch))]),
  }
}

/** The content of that check run, within the limits of GitHub. Names in it are inert. */
export function inForceContent({ counts, listed: states }: InForce): CheckContent {
  const { changed, kept, unchanged } = counts
  const total = changed + kept + unchanged
  const held = states.filter((state) => isHeld(state))
  const title = titleOf(counts, held.length)
  const more = (count: number) => `${counted(count, 'more assignment')}: \`svc list-assignments\` shows them.`
  const left_out = (kind: AssignmentState['kind']) =>
    counts[kind] - states.filter((state) => state.kind === kind).length
  const parts: Part[] = [
    text(sentenceOf(counts)),
    ...toDo(held, kept),
    table(
      '### Which agents do not have it, and why',
      ['Agent', 'Manifest', 'Why, and what to do'],
      states,
      'kept',
      keptRow,
    ),
    table(
      '### Which agents have the new version',
      ['Agent', 'Manifest', 'Version', 'What changed'],
      states,
      'changed',
      changedRow,
    ),
  ].flatMap((part) => (part.kind === 'rows' && part.rows.length === 0 ? [] : [part]))
  const conclusion = conclusionOf(total, states)
  return { conclusion, title, summary: pageOf(parts), text: undefined, annotations: [] }

  function table(
    before: string,
    heads: readonly string[],
    all: readonly AssignmentState[],
    kind: AssignmentState['kind'],
    rowOf: (state: AssignmentState) => string,
  ): Part {
    const rows = all.filter((state) => state.kind === kind).map(rowOf)
    return { kind: 'rows', before, heads, rows, maxBytes: 30_000, more, left_out: left_out(kind) }
  }
}

/** `held`: those of `kept` that wait for an approval, as far as they are listed. */
function titleOf({ changed, kept, unchanged }: InForce['counts'], held: number): string {
  if (changed + kept + unchanged === 0) return 'No agent has a manifest of this repository'
  const rows = [
    [changed, 'has the new version', 'have the new version'],
    [held, 'waits for an approval', 'wait for an approval'],
    [kept - held, 'keeps another version', 'keep another version'],
    [unchanged, 'is not touched by this commit', 'are not touched by this commit'],
  ] as const
  const [first = '', ...others] = rows
    .filter(([count]) => count > 0)
    .map(([count, one, many], index) =>
      index === 0 ? counted(count, `assignment ${one}`, `assignments ${many}`) : counted(count, one, many),
    )
  const state = kept === 0 ? 'In force' : held > 0 ? 'Held' : 'Not in force everywhere'
  return `${state}: ${listed([first, ...others])}`
}

/** The meaning of the title for the agents. */
function sentenceOf({ changed, kept, unchanged }: InForce['counts']): string {
  if (kept > 0)
    return '⚠️ **Not every agent has the version at the head of the branch.** Those below are governed by the version that they had.'
  if (changed > 0) return '✅ **The new version is in force**, for each agent below from its next step on.'
  return unchanged > 0
    ? '✅ **No agent changes:** this commit changes no manifest that is assigned.'
    : 'ℹ️ **No agent changes:** assign a manifest with `svc assign-manifest --agent-id AGENT --repo-id ID --manifest PATH`.'
}

/** A version that was pinned on purpose fails nothing. */
function conclusionOf(total: number, states: readonly AssignmentState[]): Conclusion {
  if (total === 0) return 'neutral'
  if (states.some(isHeld)) return 'action_required'
  return states.some(({ kind, pinned }) => kind === 'kept' && !pinned) ? 'failure' : 'success'
}

function isHeld({ conditions }: AssignmentState): boolean {
  return conditions.some(({ kind }) => kind === 'guard_tripped')
}

function toDo(held: readonly AssignmentState[], kept: number): Part[] {
  if (kept === 0) return []
  const shown = held
    .slice(0, 5)
    .map(
      ({ id, agent }) =>
        `Read in the table what changes for ${boldName(agent.name)}. If it is right, an operator runs \`svc approve-resync ${id}\`.`,
    )
  const items = [
    ...shown,
    ...(held.length > shown.length
      ? [`Do the same for ${counted(held.length - shown.length, 'more assignment')} in the table.`]
      : []),
    ...(kept > held.length
      ? ['Follow the last column of the table for each agent that does not have the new version.']
      : []),
  ]
  return [text(toDoList(items))]
}

function keptRow(state: AssignmentState): string {
  const { id, manifest_path, pinned, conditions } = state
  const reasons = [
    ...(pinned ? [`It stays at a pinned version until \`svc unpin-assignment ${id}\`.`] : []),
    ...conditions.map(({ message }) => messageMarkdown(shortened(message, 600))),
  ]
  const why = reasons.length === 0 ? 'The branch is being read.' : reasons.join('<br>')
  return row(agentCell(state.agent), markdownCode(shortened(manifest_path, 200)), why)
}

function changedRow(state: AssignmentState): string {
  const { manifest_path, manifest_sha, old_sha, diff } = state
  const version = [old_sha, manifest_sha]
    .flatMap((sha) => (sha === null ? [] : [markdownCode(sha.slice(0, 7))]))
    .join(' → ')
  return row(
    agentCell(state.agent),
    markdownCode(shortened(manifest_path, 200)),
    version,
    diff === null ? 'first version' : changeCell(diff),
  )
}

/** Policies of an agent that are named. */
const maxNamed = 5

function changeCell({ agents, waivers }: ManifestDiff): string {
  const policies = agents.flatMap((agent) => agent.policies)
  if (policies.length === 0) return waivers.length === 0 ? 'no policy of this agent' : 'waivers of other agents'
  const shown = policies
    .slice(0, maxNamed)
    .map((policy) => policyMarkdown({ ...policy, name: shortened(policy.name, 120) }))
  const more = policies.length - shown.length
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join('<br>')
}

// The result of a replay, as Markdown for a job summary, a comment or a check run. Names and texts in it are text and nothing else.
import { markdownCode, markdownText } from '../findings/markdown.js'
import { boldName, limited, messageMarkdown, placeMarkdown, row, shortened, table } from '../findings/markdown-parts.js'
import { capitalized, counted } from '../findings/words.js'
import {
  outcomeWords,
  pathNote,
  policyCells,
  policyHeads,
  type ShownReplay,
  type ShownStep,
  shownSteps,
  stepWords,
  summaryOf,
} from './impact-words.js'
import type { Cause } from './replay/result.js'

interface MarkdownOptions {
  /** The address of the files of the new policies, such as `https://…/blob/<commit>`; null for no links. */
  readonly address?: string | null
  /** Steps in the table. */
  readonly maxSteps?: number
  /** Of the tables and lists together, about. */
  readonly maxBytes?: number
}

/** The parts of the report: summary, steps, policies and findings. */
export function impactMarkdown(
  shown: ShownReplay,
  { address = null, maxSteps = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY }: MarkdownOptions = {},
): string[] {
  const { replayed, found, doubts } = summaryOf(shown)
  const { title, listed } = shownSteps(shown.result, maxSteps)
  const placeOf = ({ manifest, line, side }: Cause) =>
    manifest === null ? '' : placeMarkdown(shortened(manifest, 300), line, side === 'new' ? address : null)
  const steps = listed.map((step) => row(...stepCells(step, placeOf, shown.commandFor)))
  const policies = policyCells(shown.result).map((cells) => row(...cells.map(markdownText)))
  const findings = shown.findings.map(
    ({ id, file, line, message }) => `- ${placeMarkdown(file, line, null)} ${id}: ${messageMarkdown(message)}`,
  )
  const facts = [...replayed, ...doubts, pathNote].map((line) => `- ${messageMarkdown(capitalized(line))}`)
  return [
    found.map((line) => `**${messageMarkdown(capitalized(line))}**`).join('<br>'),
    limited(facts, maxBytes / 4).texts.join('\n'),
    ...(title === null
      ? []
      : [
          `**${capitalized(title)}**`,
          tableWithin(stepHeads(shown.result.flipped_tasks !== null), steps, maxBytes / 2),
        ]),
    tableWithin(policyHeads.map(capitalized), policies, maxBytes / 4),
    ...(findings.length === 0 ? [] : ['**Findings**', findings.join('\n')]),
  ]
}

function tableWithin(heads: readonly string[], rows: readonly string[], maxBytes: number): string {
  const { texts, more } = limited(rows, maxBytes)
  return `${table(heads, texts)}${more === 0 ? '' : `\n\n${counted(more, 'more row')}: \`svc replay\` prints all of them.`}`
}

/** The heads of a table of steps. */
export function stepHeads(is_compared: boolean): string[] {
  return ['Task', 'Step', is_compared ? 'Before → after' : 'Outcome', 'Policy, and why']
}

/** The cells of a step, under `stepHeads`. `placeOf` is the place of a policy as Markdown; empty if it is unknown. */
export function stepCells(
  step: ShownStep,
  placeOf: (cause: Cause) => string,
  commandFor: ShownReplay['commandFor'] = () => null,
): [task: string, step: string, outcome: string, why: string] {
  const command = commandFor(step)
  const [before, after] = outcomeWords(step)
  return [
    markdownCode(shortened(step.task_id, 100)),
    `${step.step ?? 'its end'}: ${markdownText(shortened(stepWords(step), 200))}`,
    `${before}**${after}**`,
    [...causeParts(step.policies, placeOf), ...(command === null ? [] : [markdownCode(command)])].join('<br>'),
  ]
}

/** Policies of a step that are named. */
const maxCauses = 5

/** Each policy with its reason and its place. A policy of before is shown if it does not act on the step now. */
function causeParts(causes: readonly Cause[], placeOf: (cause: Cause) => string): string[] {
  const now = new Set(causes.filter(({ side }) => side === 'new').map(({ name }) => name))
  const different = causes.filter(({ side, name }) => side === 'new' || !now.has(name))
  const shown = different.slice(0, maxCauses).flatMap((cause) => {
    const { name, side, reason, remedy } = cause
    const place = placeOf(cause)
    const words = [
      `${side === 'old' ? 'before: ' : ''}${boldName(name)}: ${messageMarkdown(shortened(reason, 300))}`,
      ...(side === 'old' || remedy === null ? [] : [`remedy: ${messageMarkdown(shortened(remedy, 300))}`]),
    ]
    return [words.join('; '), ...(place === '' ? [] : [place])]
  })
  const more = different.length - maxCauses
  return [...shown, ...(more > 0 ? [`${more} more`] : [])]
}

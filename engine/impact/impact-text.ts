// The result of a replay, as text for a terminal.
import {
  outcomeWords,
  policyCells,
  policyHeads,
  type ShownReplay,
  type ShownStep,
  short,
  shownSteps,
  stepWords,
  summaryOf,
} from './impact-words.js'
import type { Cause, StepPlace } from './replay/result.js'

/** Summary, a row for each policy, the steps that change or are blocked first, and findings; not yet safe for a terminal. */
export function impactText(shown: ShownReplay): string[] {
  const { replayed, found, doubts } = summaryOf(shown)
  const { title, listed } = shownSteps(shown.result)
  return [
    ...replayed,
    ...found,
    ...doubts,
    '',
    ...columns([policyHeads, ...policyCells(shown.result)]),
    ...(title === null ? [] : ['', title]),
    ...listed.flatMap((step) => ['', ...stepLines(step, shown)]),
    ...(shown.findings.length > 0 ? ['', 'findings'] : []),
    ...shown.findings.map(
      ({ severity, id, message, file, line }) => `  ${file}:${line}: ${severity} [${id}] ${message}`,
    ),
  ]
}

/** Numbers are at the right of their columns. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = policyHeads.map((_, column) => Math.max(...rows.map((row) => [...(row[column] ?? '')].length)))
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const space = ' '.repeat((widths[column] ?? 0) - [...cell].length)
        return column >= 2 && column <= 7 ? space + cell : cell + space
      })
      .join('  ')
      .trimEnd(),
  )
}

function stepLines(step: ShownStep, { commandFor }: ShownReplay): string[] {
  const command = commandFor(step)
  return [
    `${outcomeWords(step).join('')}  ${placeWords(step)}`,
    ...step.policies.flatMap((cause) => [
      `  ${causeWords(cause)}`,
      `    why      ${cause.reason} [${cause.code}]`,
      `    remedy   ${cause.remedy ?? 'none known'}`,
    ]),
    ...(command === null ? [] : [`  ${command}`]),
  ]
}

function placeWords(place: StepPlace): string {
  const number = place.step === null ? 'its end' : `step ${place.step}`
  return `task \`${short(place.task_id)}\`, ${number}: ${short(stepWords(place), 100)}`
}

function causeWords({ name, side, effect, severity, manifest, line }: Cause): string {
  const what = effect === 'observed' || effect === 'waived' ? `is ${effect}` : effect
  const place = `${manifest ?? 'unknown file'}${line === null ? '' : `:${line}`}`
  return `${side === 'old' ? 'before: ' : ''}${short(name)} ${what} (${severity}; ${place})`
}

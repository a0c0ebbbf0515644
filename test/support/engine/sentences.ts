// The table of sentences, checked against a report and the facts of its history.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { ReportData } from '../../../report/content/report-data.js'
import { statementsOf, verdictOf } from '../../../report/content/statements.js'
import { controlMatrix, frameworks } from '../../../report/controls/controls.js'
import { policiesFor } from '../../../report/controls/tags.js'
import type { HistoryFacts } from '../log/history-facts.js'

interface Sentence {
  readonly where: 'verdict' | 'page' | 'finding' | 'bundle'
  readonly says: string
  readonly counts?: readonly string[]
  readonly must?: readonly string[]
  readonly shown?: readonly string[]
}

const table = parse(readFileSync(new URL('../../cases/sentences.yaml', import.meta.url), 'utf8')) as readonly Sentence[]

/** A report with the facts of its history, which was altered or not. */
export interface CheckedReport {
  readonly data: ReportData
  readonly facts: HistoryFacts
  readonly is_whole: boolean
  /** Whether what a bundle holds was not altered. */
  readonly is_log_whole: boolean
  /** Whether both verifiers accept the bundle. */
  readonly is_bundle_valid: boolean
}

/** The names of sentences that appeared, by their expression. */
export type Seen = Map<string, number>

/** What is untrue in the report, and what is true and not said; none for a true report. */
export function untrueIn(checked: CheckedReport, seen: Seen): string[] {
  return table.flatMap((sentence) => {
    const problems =
      sentence.where === 'finding' ? findingProblems(checked, sentence, seen) : problemsOf(checked, sentence, seen)
    return problems.map((problem) => `${sentence.where} \`${sentence.says}\`: ${problem}`)
  })
}

function problemsOf(checked: CheckedReport, sentence: Sentence, seen: Seen): string[] {
  const { says, counts = [], must = [], shown = [] } = sentence
  const found = new RegExp(says).exec(textOf(checked, sentence.where))
  const holds = factsIn(checked)
  if (found === null)
    return shown.length > 0 && shown.every((name) => isTrue(holds, name))
      ? [`is missing, although ${shown.join(', ')}`]
      : []
  seen.set(says, (seen.get(says) ?? 0) + 1)
  // A reader of a record that is not whole is told to believe no figure.
  const isWarned = checked.data.integrity.verdict === 'problems'
  const wrong = counts.flatMap((name, index) => {
    const [said, counted] = [numberIn(found[index + 1] ?? ''), checked.facts.counts[name]]
    return isWarned || said === counted ? [] : [`says ${said}, and ${name} is ${counted}`]
  })
  return [
    ...wrong,
    ...must
      .filter((name) => !(isWarned && !name.includes('whole')) && !isTrue(holds, name))
      .map((name) => `appears without: ${name}`),
  ]
}

function findingProblems(checked: CheckedReport, { says, must = [] }: Sentence, seen: Seen): string[] {
  const { data, facts } = checked
  const controls = frameworks.flatMap(({ controls: own }) => own)
  return controlMatrix(data).flatMap((row) => {
    const control = controls.find(({ control_id }) => control_id === row.control_id)
    if (!row.is_satisfied || control === undefined) return []
    seen.set(says, (seen.get(says) ?? 0) + 1)
    const names = policiesFor(control, data.policies.rows).map(({ name }) => name)
    const { applied, open, waived } = facts.policies
    const own = {
      policy_applied: names.length === 0 || names.some((name) => applied.has(name)),
      no_open_incident_of_policies: names.length === 0 ? open.size === 0 : !names.some((name) => open.has(name)),
      no_waived_violation_of_policies: !names.some((name) => waived.has(name)),
    }
    const holds = { ...factsIn(checked), ...own }
    return must.filter((name) => !isTrue(holds, name)).map((name) => `${row.control_id} without: ${name}`)
  })
}

function textOf({ data, is_bundle_valid }: CheckedReport, where: Sentence['where']): string {
  const verdict = verdictOf(data).text
  if (where === 'bundle') return is_bundle_valid ? 'valid' : ''
  if (where === 'verdict') return verdict
  return [verdict, ...statementsOf(data).map(({ answer }) => answer)].join('\n')
}

function factsIn({ facts: { counts }, is_whole, is_log_whole }: CheckedReport): Readonly<Record<string, boolean>> {
  const some = (name: string) => (counts[name] ?? 0) > 0
  return {
    whole: is_whole,
    whole_log: is_log_whole,
    acted: some('steps'),
    acted_decided: some('decided_steps'),
    acted_undecided: some('undecided_steps'),
    acted_without_engine: some('steps_without_engine'),
    erased_step: some('erased_steps'),
    claimed_outside: some('steps_outside'),
    received_outside: some('steps_received_outside'),
    step_in_violation: some('steps_in_violation'),
    incident_opened: some('incidents_opened'),
    incident_unanswered: some('incidents_unanswered'),
    incident_open: some('incidents_open'),
    incident_open_earlier: some('incidents_open_earlier'),
    critical_step: some('critical_steps'),
    gate_erased: some('gates_erased'),
    approval_asked: some('approvals_asked'),
  }
}

function isTrue(holds: Readonly<Record<string, boolean>>, name: string): boolean {
  const known = holds[name.replace(/^not /, '')]
  if (known === undefined) throw new Error(`no fact \`${name}\``)
  return name.startsWith('not ') ? !known : known
}

const words: Readonly<Record<string, number>> = { no: 0, none: 0, one: 1 }

function numberIn(text: string): number {
  return words[text.toLowerCase()] ?? Number(text.replaceAll(',', ''))
}

export const sentences = table.map(({ says }) => says)

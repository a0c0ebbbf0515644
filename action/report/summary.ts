// The summary of the job: what was checked, what is wrong and what to write instead, and what the change means for whom.
import {
  changeWords,
  counted,
  findingHeads,
  findingRows,
  limited,
  listed,
  markdownCode,
  markdownText,
  messageMarkdown,
  row,
  table,
  type ValidatedManifest,
} from '@svc/engine/parts'
import type { Comparison } from '../change/compare.js'
import { changeParts } from './change-parts.js'
import { impactParts } from './impact-parts.js'
import { type Report, sentenceOf } from './report.js'
import { testParts } from './test-parts.js'

/** Bytes of the longer parts; GitHub rejects a summary of more than 1 MiB. */
const maxFindings = 350_000
const maxManifests = 150_000

/** The summary as Markdown. `address`: where the files of this commit are, such as `https://…/blob/<commit>`; null for no links. */
export function summaryOf(report: Report, address: string | null): string {
  const parts = [
    ...head(report),
    ...findingParts(report, address),
    ...testParts(report.validation.manifests, address),
    ...changeParts(report.comparison),
    ...impactParts(report, address),
    ...manifestParts(report),
  ]
  return `${parts.join('\n\n')}\n\n`
}

function head({ valid, failed, totals, notes, comparison }: Report): string[] {
  const { errors, warnings, tests_failed, ungoverned_agents } = totals
  const others = errors - tests_failed
  const wrong = [
    ...(others > 0 ? [`${counted(others, 'error')} to correct`] : []),
    ...(tests_failed > 0 ? [counted(tests_failed, 'failed test')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ]
  const bare = ungoverned_agents.length
  const mark = valid ? (failed || warnings > 0 || bare > 0 ? '⚠️' : '✅') : '❌'
  const left = bare === 0 ? '' : `; ${counted(bare, 'agent')} would have no policy left`
  const verdict = valid ? 'the manifests are valid' : 'the manifests are not valid'
  return [
    `# ${mark} Policies: ${verdict}${wrong.length > 0 ? ` (${wrong.join(', ')})` : ''}${left}`,
    `${sentenceOf(totals)}. ${failed ? '**This step fails.**' : 'This step does not fail.'}`,
    ...(comparison === null ? [] : [changeSentence(comparison)]),
    ...notes.map(({ title, message }) => `> **${markdownText(title)}:** ${messageMarkdown(message)}`),
  ]
}

/** Agents that are named. */
const maxAgents = 10

function changeSentence({ report, left_out }: Comparison): string {
  const agents = report.affected_agents
  const named = listed(agents.map(markdownCode), { max: maxAgents })
  const affected = agents.length === 0 ? '' : ` For ${counted(agents.length, 'agent')}: ${named}.`
  const missing =
    left_out.length === 0 ? '' : ` **${counted(left_out.length, 'manifest')} not compared, because of errors.**`
  return `The change: ${changeWords(report)}.${affected}${missing}`
}

function findingParts({ validation }: Report, address: string | null): string[] {
  const rows = findingRows(validation.findings, address)
  if (rows.length === 0) return []
  const { texts, more } = limited(rows, maxFindings)
  return [
    '## What to correct',
    table(findingHeads, texts),
    ...(more > 0 ? [`${more} more: set \`json-file\` for all of them.`] : []),
  ]
}

function manifestParts({ validation: { manifests, skipped } }: Report): string[] {
  const { texts, more } = limited(manifests.map(manifestRow), maxManifests)
  return [
    '## What was checked',
    ...(texts.length > 0 ? [table(['Manifest', 'Name', 'Version', 'Valid policies', 'Tests', 'Result'], texts)] : []),
    ...(more > 0 ? [`${counted(more, 'more manifest')}.`] : []),
    ...(skipped.length > 0 ? [`${counted(skipped.length, 'other YAML file')} without policies.`] : []),
  ]
}

function manifestRow({ file, name, version, policies, tests, valid }: ValidatedManifest): string {
  const passed = tests.filter((test) => test.passed).length
  const ran = tests.length === 0 ? 'none ran' : `${passed} of ${tests.length} passed`
  const result = valid ? (passed < tests.length ? '❌ failed tests' : '✅ valid') : '❌ errors'
  return row(markdownCode(file), markdownText(name ?? ''), markdownText(version ?? ''), `${policies}`, ran, result)
}

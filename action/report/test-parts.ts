// The failed tests of the summary: expected, got, and the answer of each policy.
import { type ExplainedPolicy, type LocatedTest, markdownText, type ValidatedManifest } from '@svc/engine'
import { limited, messageMarkdown, placeMarkdown, row, shortened, table } from './markdown.js'
import { counted } from './report.js'

const maxBytes = 150_000
/** Policies of a test that are named. */
const maxPolicies = 15

const words: Readonly<Record<ExplainedPolicy['answer'], string>> = {
  violated: '**violated**',
  approved: 'approved',
  passed: 'passed',
  not_applicable: 'not applicable',
}
const order: readonly ExplainedPolicy['answer'][] = ['violated', 'approved', 'passed', 'not_applicable']

export function testParts(manifests: readonly ValidatedManifest[], address: string | null): string[] {
  const failed = manifests.flatMap(({ tests }) => tests.filter(({ passed }) => !passed))
  if (failed.length === 0) return []
  const { texts, more } = limited(
    failed.map((test) => testText(test, address)),
    maxBytes,
  )
  return [
    '## Failed tests',
    'The policies decide otherwise than the test expects: correct the policy, or the test if the decision is right.',
    ...texts,
    ...(more > 0 ? [`${counted(more, 'more failed test')}: set \`json-file\` for all of them.`] : []),
  ]
}

function testText({ name, file, line, failures, policies }: LocatedTest, address: string | null): string {
  const sorted = policies.toSorted((a, b) => order.indexOf(a.answer) - order.indexOf(b.answer))
  const named = sorted.slice(0, maxPolicies)
  const more = policies.length - named.length
  return [
    `**${markdownText(shortened(name))}** (${placeMarkdown(file, line, address)})`,
    failures.map((failure) => `- ${messageMarkdown(failure)}`).join('\n'),
    ...(named.length > 0 ? [answerTable(named)] : []),
    ...(more > 0 ? [`${counted(more, 'more policy', 'more policies')}.`] : []),
  ].join('\n\n')
}

/** Without the reasons when no policy has one. */
function answerTable(policies: readonly ExplainedPolicy[]): string {
  const has_reasons = policies.some(({ violation_details: details }) => details !== null)
  const rows = policies.map((policy) => row(...answerCells(policy), ...(has_reasons ? reasonCells(policy) : [])))
  return table(['Policy', 'Answer', ...(has_reasons ? ['Why', 'Remedy'] : [])], rows)
}

function answerCells({ name, answer, severity }: ExplainedPolicy): string[] {
  return [markdownText(shortened(name)), answer === 'violated' ? `${words[answer]} (${severity})` : words[answer]]
}

function reasonCells({ violation_details: details }: ExplainedPolicy): string[] {
  return [details?.reason, details?.remedy].map((text) => (text ? messageMarkdown(text) : ''))
}

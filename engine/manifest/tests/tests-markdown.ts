// The failed tests of manifests as Markdown: expected, got, and the answer of each policy.
import { markdownText } from '../../findings/markdown.js'
import { limited, messageMarkdown, placeMarkdown, row, shortened, table } from '../../findings/markdown-parts.js'
import type { ExplainedPolicy } from '../../policy/explain.js'
import type { LocatedTest } from './suites.js'

/** Policies of a test that are named. */
const maxPolicies = 15

const words: Readonly<Record<ExplainedPolicy['answer'], string>> = {
  violated: '**violated**',
  approved: 'approved',
  passed: 'passed',
  not_applicable: 'not applicable',
}
const order: readonly ExplainedPolicy['answer'][] = ['violated', 'approved', 'passed', 'not_applicable']

/** A text for each failed test, as many as fit into the bytes, and how many there are more. */
export function failedTestTexts(
  manifests: readonly { readonly tests: readonly LocatedTest[] }[],
  address: string | null,
  maxBytes: number,
): { readonly texts: readonly string[]; readonly more: number } {
  const failed = manifests.flatMap(({ tests }) => tests.filter(({ passed }) => !passed))
  return limited(
    failed.map((test) => testText(test, address)),
    maxBytes,
  )
}

function testText({ name, file, line, failures, policies }: LocatedTest, address: string | null): string {
  const sorted = policies.toSorted((a, b) => order.indexOf(a.answer) - order.indexOf(b.answer))
  const named = sorted.slice(0, maxPolicies)
  const more = policies.length - named.length
  return [
    `**${markdownText(shortened(name))}** (${placeMarkdown(file, line, address)})`,
    failures.map((failure) => `- ${messageMarkdown(failure)}`).join('\n'),
    ...(named.length > 0 ? [answerTable(named)] : []),
    ...(more > 0 ? [`${more} more ${more === 1 ? 'policy' : 'policies'}.`] : []),
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

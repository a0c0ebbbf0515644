// The text below the summary: what changes, the tests, what is checked otherwise, and how the numbers were found.
import {
  boldName,
  capitalized,
  changeLegend,
  counted,
  diffMarkdown,
  type FileDiff,
  failedTestTexts,
  leftOutWords,
  markdownCode,
  messageMarkdown,
  pathNote,
  replayedWords,
  shortened,
  taskChanges,
  wilsonInterval,
} from '@svc/engine/parts'
import type { ImpactReport } from '@svc/platform'
import { addressOf, type CheckFacts } from '../facts.js'
import { type Part, pageOf, text } from './fit.js'
import type { Verdict } from './verdict.js'

/** Undefined where there is nothing to add. */
export function detailsOf(facts: CheckFacts, { kind }: Verdict): string | undefined {
  const parts = [
    ...(kind === 'unchanged' ? [] : [...diffPart(facts), ...testPart(facts, kind)]),
    ...brokenPart(facts),
    ...checkedPart(facts),
    ...methodPart(facts),
  ]
  // GitHub puts no space between the summary and this text.
  return parts.length === 0 ? undefined : pageOf([text('---'), ...parts])
}

function diffPart({ diff, base, left_out }: CheckFacts): Part[] {
  if (diff.compared === 0) return []
  const compared = `## What changes\n\nCompared with ${markdownCode(shortened(base.branch, 200))} at the commit ${markdownCode(base.commit.slice(0, 12))}.`
  return [
    {
      kind: 'rows',
      before: diff.manifests.length > 0 ? `${compared} ${changeLegend}` : compared,
      heads: null,
      rows: diffMarkdown({ ...diff, manifests: diff.manifests.map(withoutAgents) }, left_out)
        .trimEnd()
        .split('\n'),
      maxBytes: 36_000,
      more: (count) => `${counted(count, 'more line')}: \`svc diff\` prints all of them.`,
    },
  ]
}

/** Without the agents for which the same changes: the summary names them. */
function withoutAgents(manifest: FileDiff): FileDiff {
  const wordsOf = (policies: FileDiff['policies']) => JSON.stringify(policies)
  const all = wordsOf(manifest.policies)
  return { ...manifest, agents: manifest.agents.filter(({ policies }) => wordsOf(policies) !== all) }
}

function testPart({ validation, ...facts }: CheckFacts, kind: Verdict['kind']): Part[] {
  const tests = validation.manifests.flatMap((manifest) => manifest.tests)
  const failed = tests.filter(({ passed }) => !passed).length
  if (tests.length === 0 && (kind === 'invalid' || validation.manifests.length === 0)) return []
  if (failed === 0) {
    const words = tests.length === 0 ? 'No test ran.' : `${counted(tests.length, 'test')} passed.`
    return [text(`## Tests\n\n${words}`)]
  }
  const { texts, more: left_out } = failedTestTexts(validation.manifests, addressOf(facts), 12_000)
  const more = (count: number) => `${counted(count, 'more failed test')}: \`svc test\` prints all of them.`
  const before = `## Tests\n\n${failed} of ${counted(tests.length, 'test')} failed. The policies give another result than the test expects.`
  return [{ kind: 'rows', before, heads: null, rows: texts, are_paragraphs: true, maxBytes: 13_000, more, left_out }]
}

function brokenPart({ broken_tests }: CheckFacts): Part[] {
  if (broken_tests.length === 0) return []
  const rows = broken_tests.map(
    ({ path, name, change, failures }) =>
      `- ${boldName(name)} of ${markdownCode(shortened(path, 200))} (${change}): ${messageMarkdown(shortened(failures.join('; '), 300))}`,
  )
  const before =
    '## Tests of the base that no longer hold\n\nThe pull request removes or rewrites these tests, and the new manifest would fail them. The old expectation is what was agreed before.'
  return [
    { kind: 'rows', before, heads: null, rows, maxBytes: 6_000, more: (count) => `${counted(count, 'more test')}.` },
  ]
}

function checkedPart({ checked }: CheckFacts): Part[] {
  if (checked.length === 0) return []
  const rows = checked.map(
    ({ path, what }) => `- ${markdownCode(shortened(path, 200))}: ${messageMarkdown(shortened(what, 300))}`,
  )
  const before =
    '## Changes of what is checked\n\nThese change how strictly agents or pull requests are checked. They do not change this check: its rules are those of the base.'
  return [
    { kind: 'rows', before, heads: null, rows, maxBytes: 6_000, more: (count) => `${counted(count, 'more change')}.` },
  ]
}

function methodPart({ impact, days }: CheckFacts): Part[] {
  if (impact === null || impact.agents.length === 0) return []
  const { recorded_tasks, sampled_tasks, left_out } = impact
  const sampled = sampled_tasks < recorded_tasks
  const lines = [
    `these agents recorded ${counted(recorded_tasks, 'task')} in the last ${counted(days, 'day')}${sampled ? `, of which a random sample of ${counted(sampled_tasks, 'task')} was taken` : ''}`,
    replayedWords(impact, 'the policies in effect now and under those of this change'),
    ...leftOutWords(left_out),
    ...(sampled ? [sampleWords(impact)] : []),
    pathNote,
  ]
  return [text(`## How the numbers were found\n\n${lines.map((line) => `- ${capitalized(line)}`).join('\n')}`)]
}

/** The share of each number in all tasks. */
function sampleWords(impact: ImpactReport): string {
  const words = taskChanges.map(([name, what]) => {
    const [low, high] = wilsonInterval(impact[name], impact.tasks).map((share) => (share * 100).toFixed(1))
    return `${low} % to ${high} % ${what}`
  })
  return `of all recorded tasks, with 95 % confidence: ${words.join('; ')}`
}

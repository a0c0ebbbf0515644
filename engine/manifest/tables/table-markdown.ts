// The tables of a manifest as Markdown. Texts of the author render as themselves.
import { markdownCode, markdownText } from '../../findings/markdown.js'
import { counted } from '../../findings/words.js'
import { backtick, maxShownDepth, type RuleWords } from './rule-words.js'
import type { ManifestTable, PolicyTable, ViolationEffect } from './table.js'

const effectWords: Readonly<Record<ViolationEffect, string>> = {
  blocks: '**blocks** the step',
  asks: '**asks** a person first',
  reports: 'is reported',
  observes: 'is observed only',
  disabled: 'nothing: it is disabled',
}

const atRegistration: Partial<Record<ViolationEffect, string>> = { blocks: '**blocks** the registration' }

/** The tables of one manifest; `file` is its name for the reader. */
export function tableMarkdown(table: ManifestTable, file: string): string {
  const { name, version, description, policies, tests, waivers, controls } = table
  const head = [`Version ${markdownText(version)}`, markdownCode(file), counted(policies.length, 'policy', 'policies')]
  const parts = [
    `# ${markdownText(name)}`,
    `${head.join(', ')}, ${counted(tests, 'test', 'tests')}.`,
    ...(description === null ? [] : [markdownText(description)]),
    rows(['policy', 'a violation', 'severity', 'applies to', 'agents', 'controls'], policies.map(cells)),
    '## What each policy checks',
    ...policies.flatMap(section),
    ...(waivers.length === 0 ? [] : ['## Waivers', waiverTable(table)]),
    ...(controls.length === 0 ? [] : ['## Controls', controlTable(table)]),
  ]
  return `${parts.join('\n\n')}\n`
}

function rows(head: readonly string[], body: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...body].map((cellsOfRow) => `| ${cellsOfRow.join(' | ')} |`).join('\n')
}

function cells({ name, effect, severity, scope, applies_to, risk_classification, controls }: PolicyTable): string[] {
  const does = scope === 'agent_registration' ? (atRegistration[effect] ?? effectWords[effect]) : effectWords[effect]
  const agents = risk_classification === null ? 'all' : levelWords(risk_classification)
  return [markdownText(name), does, severity, wordsMarkdown(applies_to), agents, controls.map(markdownText).join(', ')]
}

/** An unclassified agent skips no policy. */
function levelWords(level: string): string {
  return level === 'minimal' ? 'all' : `risk ${level}${level === 'unclassified' ? '' : ' or above, or unclassified'}`
}

function section({ name, description, rule, approval, tests }: PolicyTable): string[] {
  return [
    `### ${markdownText(name)}`,
    ...(description === null ? [] : [markdownText(description)]),
    [
      ...rule.flatMap(ruleLines),
      ...(approval == null ? [] : [approvalLine(approval)]),
      ...testLines('violated', tests.violated),
      ...testLines('passed', tests.passed),
    ].join('\n'),
  ]
}

function ruleLines({ depth, rule_type, doc, params, applies_to }: RuleWords): string[] {
  const indent = '  '.repeat(depth)
  const about = applies_to === null ? '' : ` For ${wordsMarkdown(applies_to)}.`
  const deeper =
    depth === maxShownDepth && /^(all_of|any_of|not)$/.test(rule_type) ? ' Its conditions are in the manifest.' : ''
  return [
    `${indent}- Rule ${markdownCode(rule_type)}: ${wordsMarkdown(doc)}${about}${deeper}`,
    ...params.map(({ name, meaning, value }) => {
      const what = meaning === '' ? '' : ` (${wordsMarkdown(meaning)})`
      return `${indent}  - ${markdownCode(name)}${what}: ${wordsMarkdown(value)}`
    }),
  ]
}

function approvalLine(approval: NonNullable<PolicyTable['approval']>): string {
  const { check_type, binds, uses, max_age_seconds } = approval
  const parts = [
    binds === undefined ? 'of the whole step' : `of ${binds.map(markdownCode).join(', ')}`,
    ...(check_type === undefined ? [] : [`by a gate ${markdownCode(check_type)}`]),
    ...(uses === undefined ? [] : [`for ${counted(uses, 'step', 'steps')}`]),
    ...(max_age_seconds === undefined ? [] : [`for ${max_age_seconds} seconds`]),
  ]
  return `- Approval ${parts.join(', ')}`
}

/** A policy that passes does so in many tests, and a few of them show how. */
const maxNamedTests = 4

function testLines(side: string, names: readonly string[]): string[] {
  const more = names.length > maxNamedTests ? [`${names.length - maxNamedTests} more`] : []
  const listed = [...names.slice(0, maxNamedTests).map(markdownText), ...more]
  return [`- Tests in which it is ${side}: ${listed.length === 0 ? 'none' : listed.join('; ')}`]
}

function waiverTable({ waivers }: ManifestTable): string {
  const body = waivers.map(({ policy, agent_key, expires, approved_by, reason }) =>
    [policy, agent_key, expires, approved_by, reason].map(markdownText),
  )
  return rows(['policy', 'agent that is exempt', 'until the end of (UTC)', 'approved by', 'reason'], body)
}

function controlTable({ controls }: ManifestTable): string {
  const body = controls.map(({ control, policies }) => [markdownText(control), policies.map(markdownText).join('; ')])
  return rows(['control', 'policies'], body)
}

/** Takes no room; keeps the backticks of two codes apart. */
const joiner = '\u2060'

/** Words in which backticks mark code. Both kinds of text are escaped, so that a stray backtick only changes the font. */
function wordsMarkdown(words: string): string {
  return words
    .split('`')
    .map((part, index, all) => {
      const text = part.replaceAll(backtick, '`')
      if (index % 2 === 1) return markdownCode(text)
      if (text === '') return index === 0 || index === all.length - 1 ? '' : joiner
      const before = text.length - text.trimStart().length
      return `${text.slice(0, before)}${markdownText(text)}${text.slice(Math.max(before, text.trimEnd().length))}`
    })
    .join('')
}

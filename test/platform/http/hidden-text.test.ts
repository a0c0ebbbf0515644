// Hidden characters in requests: no text of people may contain one.
import { createChecker, lazyCheck } from '@svc/engine/parts'
import { documents, type JsonMap, type SchemaName } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../../../platform/http/route.js'
import { routes } from '../../../platform/routes.js'
import { hiddenCharacters, textMembers } from '../../support/engine/text-members.js'

/**
 * Data of agents, their engines and their authors, which is kept as it was sent: a step must not be lost for its text, an erasure
 * must name what was logged, and files of manifests and of settings have their own readers.
 */
const ofAgents: Readonly<Partial<Record<SchemaName, RegExp>>> = {
  'agent-change': /^declared_tools/,
  'agent-registration': /^declared_tools/,
  'batch-request': /./,
  'copilot-request': /./,
  'dry-run-request': /^(against|file|manifest|policy)/,
  'erasure-request': /^subject_id$/,
  'hosted-evaluate-request': /./,
  'incident-report': /^(policy_name|name|severity|reason)$/,
  'log-request': /^(prev_hash|step_name)$/,
  'otlp-request': /./,
  'policy-change': /^(rule_type|rule|rule_function|approval|controls)/,
  'policy-request': /^(rule_type|rule|rule_function|approval|controls)/,
  'settings-request': /^text$/,
  'trace-request': /^steps/,
  'validation-request': /^(manifest|tests)$/,
}

const bodies = [...new Set((routes as readonly Endpoint[]).flatMap(({ body }) => body ?? []))]
const members = bodies.flatMap((name) =>
  textMembers(name).map(({ path, schema }) => ({ name, path, schema, at: path.join('.') })),
)
const isOfAgents = ({ name, at }: { readonly name: SchemaName; readonly at: string }) =>
  ofAgents[name]?.test(at) === true

/** One of them is valid for each member. */
const samples = [
  'abc',
  '2026-01-05T09:00:00Z',
  'mia@example.org',
  '0',
  'a'.repeat(40),
  'https://example.org/x',
  'a'.repeat(64),
]

describe('a text of people', () => {
  it.each(
    members.filter((member) => !isOfAgents(member)).map((member) => [`${member.name} ${member.at}`, member] as const),
  )('contains no hidden character: %s', (_, { schema }) => {
    const check = lazyCheck({ ...schema, $id: undefined } as JsonMap)
    const sample = samples.find((text) => check(text).length === 0) ?? ''
    expect(sample).not.toBe('')
    const several = schema.format === 'lines'
    const accepted = hiddenCharacters.filter((character) =>
      [`${character}${sample}`, `${sample.slice(0, 2)}${character}${sample.slice(2)}`, `${sample}${character}`].some(
        (text) => check(text).length === 0,
      ),
    )
    expect(accepted).toEqual(several ? ['\t', '\n'] : [])
  })

  it('may contain what people write', () => {
    const check = createChecker(Object.values(documents))('stop-request.json')
    const texts = ['Größe 5 °C – “ok”', '支払い', '👩‍💻 ❤️ 1️⃣ 🏳️‍🌈', 'می‌خواهم', 'क्‍ष', 'שלום', 'two\nlines\r\nand\ta tab']
    for (const reason of texts) expect([reason, check({ workspace: true, reason })]).toEqual([reason, []])
  })

  it('is refused with the name of the character, which the text would not show', () => {
    const check = createChecker(Object.values(documents))('stop-request.json')
    const messageOf = (value: object) => check(value).map(({ path, message }) => [path.join('.'), message])
    expect(messageOf({ workspace: true, reason: 'refunds\u202e go' })).toEqual([
      ['reason', 'must be text without hidden characters, found U+202E'],
    ])
    expect(messageOf({ agent_key: 'desk\n', reason: 'x' })).toEqual([
      ['agent_key', 'must be one line of text without hidden characters, found U+000A'],
    ])
    expect(messageOf({ workspace: true, reason: ' \n' })).toEqual([['reason', expect.stringMatching(/^must say why/)]])
  })
})

// The labels that the engine states limit those that the agent sets, part by part.
import type { JsonMap, Step } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { contentTrust, type Label, labelsOrPublic, othersIn } from '../../../engine/rules/taint/labels.js'
import { someLeaf } from '../../../engine/rules/taint/leaves.js'

const output = { text: 'whole', notes: [{ text: 'first' }, { text: 'second' }] }
const second = { path: ['notes', '1'], trust: 'third_party' }

interface Limit {
  readonly name: string
  readonly content?: JsonMap
  readonly stated: unknown
  /** The labels of the three texts. */
  readonly leaves: readonly Label[]
  readonly trust: unknown
  readonly others: Label
}

const unreadable = ['text', { trust: null, parts: 'text' }, { trust: null, parts: [{}] }, { trust: 'unknown' }]
const limits: readonly Limit[] = [
  {
    name: 'the whole output',
    stated: { trust: 'third_party', parts: [] },
    leaves: ['third_party', 'third_party', 'third_party'],
    trust: 'third_party',
    others: 'third_party',
  },
  {
    name: 'one part',
    stated: { trust: null, parts: [second] },
    leaves: [null, null, 'third_party'],
    trust: ['third_party'],
    others: 'third_party',
  },
  {
    name: 'a part that the agent trusts as a whole',
    content: { trust: 'own' },
    stated: { trust: null, parts: [second] },
    leaves: ['own', 'own', 'third_party'],
    trust: ['own', 'third_party'],
    others: 'third_party',
  },
  {
    name: 'a part that the agent trusts by a deeper path',
    content: { trust_of: { 'notes.1.text': 'own', 'notes.*.text': 'own' } },
    stated: { trust: null, parts: [second] },
    leaves: [null, 'own', 'third_party'],
    trust: ['own', 'third_party'],
    others: 'third_party',
  },
  {
    name: 'a part that the agent trusts less',
    content: { trust: 'public' },
    stated: { trust: null, parts: [second] },
    leaves: ['public', 'public', 'public'],
    trust: ['public', 'third_party'],
    others: 'public',
  },
  {
    name: 'an output whose parts the agent trusts',
    content: { trust_of: { text: 'own', notes: 'own' } },
    stated: { trust: 'public', parts: [] },
    leaves: ['public', 'public', 'public'],
    trust: ['public'],
    others: 'public',
  },
  ...unreadable.map((stated) => ({
    name: `a statement that cannot be read: ${JSON.stringify(stated)}`,
    stated,
    leaves: ['public', 'public', 'public'] as const,
    trust: 'public',
    others: 'public' as const,
  })),
]

describe.each(limits)('$name', ({ content, stated, leaves, trust, others }) => {
  const step: Step = {
    step_type: 'step.self',
    output,
    ...(content && { properties: { content } }),
    meta: { 'svc.memory': stated as JsonMap },
  }

  it('has the labels', () => {
    const found = new Map<string, Label>()
    someLeaf(output, labelsOrPublic(step), ({ text }, label) => {
      found.set(text, label)
      return false
    })
    expect(['whole', 'first', 'second'].map((text) => found.get(text))).toEqual(leaves)
    expect(contentTrust(step)).toEqual(trust)
    expect(othersIn(step)).toBe(others)
  })
})

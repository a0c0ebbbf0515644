// The index of phrases against a plain search through the same texts.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPhrases, extended } from '../../../engine/rules/values/phrases.js'
import { runs } from '../../support/random.js'

const word = fc.constantFrom('a', 'b', 'c', 'de')
const texts = fc.array(fc.array(word, { maxLength: 12 }), { maxLength: 6 })
const phrase = fc.array(word, { minLength: 1, maxLength: 6 })

function occurs(all: readonly (readonly string[])[], words: readonly string[]): boolean {
  return all.some((text) => text.some((_, from) => words.every((one, index) => text[from + index] === one)))
}

describe('an index of phrases', () => {
  it('has the words that are next to each other in one of its texts, and no others', () => {
    fc.assert(
      fc.property(texts, phrase, (all, words) => {
        const phrases = createPhrases()
        for (const text of all) phrases.add(text)
        expect(phrases.has(words)).toBe(occurs(all, words))
        expect(words.every(phrases.knows)).toBe(words.every((one) => occurs(all, [one])))
      }),
      { numRuns: runs(5000) },
    )
  })

  it('has the phrases of a copy and of the original, and joins no texts', () => {
    fc.assert(
      fc.property(texts, texts, phrase, (before, after, words) => {
        const original = createPhrases()
        for (const text of before) original.add(text)
        const copy = extended(original)
        for (const text of after) copy.add(text)
        expect(copy.has(words)).toBe(occurs([...before, ...after], words))
        expect(original.has(words)).toBe(occurs(before, words))
      }),
      { numRuns: runs(2000) },
    )
  })

  it('spells letters by words that are next to each other', () => {
    const phrases = createPhrases()
    phrases.add(['de71', '1203', '0000'])
    expect(['de7112030000', '12030000', 'de710000', '1203000'].map(phrases.spells)).toEqual([true, true, false, false])
  })
})

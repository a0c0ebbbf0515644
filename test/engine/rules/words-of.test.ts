// A text of ASCII characters is split faster than others, and into the same words.
import { expect, test } from 'vitest'
import { wordsOf } from '../../../engine/rules/values/words.js'
import { seeded } from '../../bench/past-steps.js'

const parts = [..." aZz09.,'_-@\t\n(\0", '12', '.5', ',000', "'123", '1,250.00', '0.0', 'mia@example.org']
const samples = 20_000

test('the words of ASCII text do not depend on the other characters of a text', () => {
  const random = seeded(1)
  for (let sample = 0; sample < samples; sample++) {
    const length = Math.floor(random() * 10)
    const text = Array.from({ length }, () => parts[Math.floor(random() * parts.length)]).join('')
    expect(wordsOf(`${text} é`), JSON.stringify(text)).toEqual([...wordsOf(text), 'é'])
  }
})

// What is written as YAML is read as the same value.
import { readYaml, writeYaml } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'
import { nastyTexts } from '../../support/engine/nasty-text.js'

/** Words of YAML that are not text, and texts that look like its syntax. */
const words = [
  'yes',
  'no',
  'null',
  '~',
  'true',
  '1e3',
  '0x1f',
  '1_000',
  '2026-01-05',
  '- a',
  'a: b',
  '# x',
  '*a',
  '&a',
  '!x',
]
const long = ['word '.repeat(100), `${'x'.repeat(300)}: y`]
/** YAML holds no control character and no half of a character. */
const readable = nastyTexts.filter((text) => text.isWellFormed() && !/[^\P{Cc}\t\n\r\u0085]/u.test(text))

describe('a value that is written as YAML', () => {
  it.each([...words, ...long, ...readable].map((text) => [JSON.stringify(text), text] as const))(
    'has the text %s',
    (_, text) => {
      const value = { text, list: [text, { nested: text }], other: { text } }
      const { problems, value: read } = readYaml(writeYaml(value))
      expect([problems, read]).toEqual([[], value])
    },
  )

  it('repeats a part that it has twice', () => {
    const part = { url: 'https://example.org/' }
    const text = writeYaml({ one: part, two: part, none: [], nothing: null })
    expect(text).toBe('one:\n  url: https://example.org/\ntwo:\n  url: https://example.org/\nnone: []\nnothing: null\n')
  })
})

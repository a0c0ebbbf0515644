// Untrusted text in Markdown.
import { readFileSync } from 'node:fs'
import { markdownCode, markdownText } from '@svc/engine/parts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

interface Case {
  readonly name: string
  readonly given: string
  readonly text: string
  readonly code: string
}

const cases = parse(readFileSync(new URL('../../cases/markdown.yaml', import.meta.url), 'utf8')) as Case[]
const withJoiners = (text: string) => text.replaceAll('⁀', '\u2060')

const special = fc.string({
  unit: fc.constantFrom(...'\\`*_[]<>|~&$@#:/.()!-+=0aw \n\t', '\u202e', '\0'),
  maxLength: 30,
})

/** What a reader sees of running text. */
const seen = (text: string) => text.replace(/\\([!-/:-@[-`{-~])/g, '$1').replaceAll('\u2060', '')
const onOneLine = (text: string) => text.replace(/\s+/gu, ' ').replace(/[\0\u202e]/gu, '�')

describe('text in Markdown', () => {
  it.each(cases)('$name', ({ given, text }) => {
    expect(markdownText(given)).toBe(withJoiners(text))
  })

  it('shows as it is written, and holds nothing that is not escaped', () => {
    fc.assert(
      fc.property(special, (text) => {
        const written = markdownText(text)
        expect(seen(written)).toBe(onOneLine(text).trim())
        expect(written.replace(/\\./gu, 'x')).not.toMatch(/[`*_[\]<>|~&$@#\n]|:\/|www\./u)
      }),
    )
  })
})

describe('code in Markdown', () => {
  it.each(cases)('$name', ({ given, code }) => {
    expect(markdownCode(given)).toBe(withJoiners(code))
  })

  it('ends where it should', () => {
    fc.assert(
      fc.property(special, (text) => {
        const written = markdownCode(text)
        if (written.startsWith('<code>')) {
          expect(written.slice(6, -7)).not.toMatch(/[`*_[\]<>|~$@]/)
          return
        }
        const [fence = ''] = /^`+/.exec(written) ?? []
        const inner = written.slice(fence.length, -fence.length)
        expect(written.endsWith(fence)).toBe(true)
        expect(inner.match(/`+/g) ?? []).not.toContain(fence)
        const shown = /^ .* $/.test(inner) && inner.trim() !== '' ? inner.slice(1, -1) : inner
        expect(shown).toBe(onOneLine(text))
      }),
    )
  })
})

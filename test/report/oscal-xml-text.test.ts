// Any text survives XML: written, validated by no schema here, and read by two parsers.
import { describe, expect, it } from 'vitest'
import { decodeText, encodeText } from '../../report/oscal/text.js'
import { writeXml } from '../../report/oscal/xml-text.js'
import { nastyTexts, numbersFrom } from '../support/engine/nasty-text.js'
import { hasPython, type Tree, treeByPython, treeByXmlJs } from '../support/reports/oscal.js'

const alphabet = [
  ...'<>&"\'`\\]u{}01 \t\r\n\u0000\u0001\u001f\u007f\u0085\u00a0\u2028\u202e\ufeff\ufffe\uffffaéß日😀',
].concat(['\ud800', '\udfff', '&amp;', ']]>', '&#13;', '\\u{1}', '  ', '{}', '\u{10ffff}', '\u{1fffe}'])

function randomTexts(count: number): string[] {
  const random = numbersFrom(19)
  const pick = () => alphabet[Math.floor(random() * alphabet.length)] ?? ''
  return Array.from({ length: count }, () => Array.from({ length: Math.floor(random() * 12) }, pick).join(''))
}

const texts = [...nastyTexts, ...randomTexts(2_000)]
const document = writeXml({
  name: 'texts',
  attributes: {},
  children: texts.map((text) => ({ name: 'text', attributes: { value: text }, children: [text] })),
})

function expectAll({ children }: Tree): void {
  expect(children.length).toBe(texts.length)
  const wrong = children.filter(
    ({ text, attributes: { value = '' } }, index) =>
      decodeText(text) !== texts[index] || decodeText(value) !== texts[index],
  )
  expect(wrong).toEqual([])
}

describe('encoded text', () => {
  it('is a string of OSCAL in XML and in JSON', () => {
    expect(texts.filter((text) => !/^\S(.*\S)?$/u.test(encodeText(text)))).toEqual([])
  })

  it('holds nothing that XML forbids or a parser normalises', () => {
    const risky = /[\p{Cc}\p{Cs}\ufffe\uffff\u2028\u2029]| {2}/u
    expect(texts.filter((text) => risky.test(encodeText(text)))).toEqual([])
  })

  it('is decoded to the text', () => {
    expect(texts.filter((text) => decodeText(encodeText(text)) !== text)).toEqual([])
  })

  it('differs where the text differs', () => {
    expect(new Set(texts.map(encodeText)).size).toBe(new Set(texts).size)
  })

  it('leaves ordinary text as it is', () => {
    const text = 'Überweisung “12” & <x> – 日本語 😀 שלום'
    expect(encodeText(text)).toBe(text)
  })

  it('reads unknown escapes as they are', () => {
    expect(decodeText('\\x \\u{110000} \\u{zz} \\u1')).toBe('\\x \\u{110000} \\u{zz} \\u1')
  })

  it('is written in linear time', () => {
    const long = '\u0001 \\'.repeat(100_000)
    expect(decodeText(encodeText(long))).toBe(long)
  })
})

describe('a document', () => {
  it('returns every text and attribute by way of xml-js', () => {
    expectAll(treeByXmlJs(document))
  })

  it.skipIf(!hasPython)('returns every text and attribute by way of Python (needs python3)', () => {
    expectAll(treeByPython(document))
  })

  it('is the same for the same elements', () => {
    const root = { name: 'a', attributes: { b: 'c' }, children: [{ name: 'd', attributes: {}, children: [] }] }
    expect(writeXml(root)).toBe('<?xml version="1.0" encoding="UTF-8"?>\n<a b="c">\n <d/>\n</a>\n')
  })

  it.each(['a b', '', '1a', 'a:b', 'a>', 'x="1"', '\u0001'])('has no element or attribute `%s`', (name) => {
    expect(() => writeXml({ name, attributes: {}, children: [] })).toThrow(TypeError)
    expect(() => writeXml({ name: 'a', attributes: { [name]: '1' }, children: [] })).toThrow(TypeError)
  })
})

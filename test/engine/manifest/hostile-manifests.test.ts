// Hostile manifests: each is rejected before it is expensive, and none makes the parser throw.
import { readFileSync } from 'node:fs'
import { parseManifest, runTests } from '@svc/engine'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/random.js'

describe('hostile manifests', () => {
  const laughs = ['a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]']
  for (let level = 1; level < 30; level++) {
    laughs.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(', ')}]`)
  }
  const long = 'x'.repeat(100_000)
  const hostile: { name: string; text: string; message: string }[] = [
    { name: 'a billion laughs', text: `${laughs.join('\n')}\n`, message: 'aliases expand too far' },
    {
      name: 'a long text repeated by aliases',
      text: `a: &a ${long}\nb: [${Array.from({ length: 100 }, () => '*a').join(', ')}]\n`,
      message: 'aliases expand too far',
    },
    { name: 'thousands of aliases', text: `a: &a 1\nb: [${'*a,'.repeat(60_000)}]\n`, message: 'anchors and aliases' },
    {
      name: 'thousands of anchors',
      text: `a: [${Array.from({ length: 20_000 }, (_, index) => `&a${index} 1`).join(',')}]\n`,
      message: 'anchors and aliases',
    },
    { name: 'brackets without end', text: '['.repeat(250_000), message: 'nested deeper than 10000 levels' },
    {
      name: 'brackets that end',
      text: `a: ${'['.repeat(10_001)}${']'.repeat(10_001)}\n`,
      message: 'nested deeper than 10000 levels',
    },
    { name: 'lists in lists in lists', text: `${'- '.repeat(50_000)}a\n`, message: 'nested deeper than 10000 levels' },
    { name: 'braces without end', text: '{a: '.repeat(60_000), message: 'nested deeper than 10000 levels' },
    {
      name: 'thousands of keys',
      text: Array.from({ length: 25_000 }, (_, index) => `k${index}: 1\n`).join(''),
      message: 'more than 150000 keys, values and marks',
    },
    {
      name: 'more than a thousand keys',
      text: Array.from({ length: 20_000 }, (_, index) => `k${index}: 1\n`).join(''),
      message: 'more than 1000 keys in one map',
    },
    {
      name: 'thousands of empty policies',
      text: `policies: [${'{},'.repeat(80_000)}]\n`,
      message: 'more than 150000 keys, values and marks',
    },
    {
      name: 'more than a thousand empty policies',
      text: `policies: [${'{},'.repeat(9_000)}]\n`,
      message: 'at most 1000 items',
    },
    {
      name: 'thousands of tests and a null policy',
      text: `name: A\nversion: "1"\npolicies: [null]\ntests: [${'{},'.repeat(2000)}]\n`,
      message: 'at most 1000 items',
    },
    {
      name: 'thousands of errors',
      text: `tests: [{ history: [${'{},'.repeat(10_000)}] }]\n`,
      message: 'is missing',
    },
    {
      name: 'a list beyond ten thousand items',
      text: `tests: [{ history: [${'{},'.repeat(30_000)}] }]\n`,
      message: 'more than 10000 items in one list',
    },
    {
      name: 'thousands of bad keys in one map',
      text: `a: {${Array.from({ length: 900 }, (_, index) => `${index}: 1`).join(',')}}\n`,
      message: 'a key must be text',
    },
    { name: 'thousands of bad keys', text: `a: [${'{1: 1},'.repeat(9_000)}]\n`, message: 'a key must be text' },
    { name: 'a file beyond 256 KiB', text: `name: ${'x'.repeat(256 * 1024)}\n`, message: 'larger than 256 KiB' },
    {
      name: 'a file beyond 256 KiB in bytes only',
      text: `name: ${'ä'.repeat(140_000)}\n`,
      message: 'larger than 256 KiB',
    },
    { name: 'a lone surrogate', text: 'name: A\nversion: \ud800\n', message: 'a lone surrogate' },
    { name: 'a NUL', text: 'name: A\0\n', message: 'a control character' },
    { name: 'a comment without end', text: `# ${'x'.repeat(200_000)}`, message: 'the file is empty' },
    { name: 'quotes without end', text: `a: "${'x'.repeat(200_000)}`, message: 'opens a quote that is never closed' },
    { name: 'thousands of documents', text: '---\na\n'.repeat(40_000), message: 'more than one document' },
    { name: 'thousands of tags', text: `a: [${'!x 1,'.repeat(40_000)}]\n`, message: 'tags are not allowed' },
    { name: 'a tag', text: 'a: !x 1\n', message: 'has the tag `!x`' },
  ]

  it.each(hostile)('$name: rejected', ({ text, message }) => {
    const { value, errors } = parseManifest(text, 'a.yaml')
    expect(value).toBeNull()
    expect(errors.length).toBeGreaterThan(0)
    expect(errors.length).toBeLessThanOrEqual(1000)
    expect(errors[0]?.message).toContain(message)
  })

  it('are rejected with the position of a lone surrogate', () => {
    const [error] = parseManifest('name: A\nversion: \ud800\n', 'a.yaml').errors
    expect(error).toMatchObject({ id: 'yaml-character', line: 2, column: 10 })
  })

  it('never make the parser throw, with any part of a manifest removed or inserted', () => {
    const valid = readFileSync(new URL('../../cases/manifests/refund-desk.yaml', import.meta.url), 'utf8')
    const pieces = [
      'null',
      '[',
      '{',
      '- ',
      ': ',
      '"',
      '*a ',
      '&a ',
      '!!set ',
      '\n',
      '\t',
      '3',
      'policies:',
      '? ',
      '#',
      '|',
      '\ud800',
    ]
    const position = fc.nat(valid.length)
    fc.assert(
      fc.property(position, fc.nat(40), fc.constantFrom(...pieces), position, (at, cut, piece, other) => {
        const once = `${valid.slice(0, at)}${piece}${valid.slice(at + cut)}`
        const { value, errors } = parseManifest(`${once.slice(0, other)}${piece}${once.slice(other)}`, 'a.yaml')
        for (const { line, column } of errors) expect(line * column).toBeGreaterThan(0)
        if (value !== null) expect(runTests(value)).toHaveLength(value.tests?.length ?? 0)
      }),
      { numRuns: runs(250) },
    )
  })

  it('do not change the prototype of objects', () => {
    parseManifest('name: A\nversion: "1"\n__proto__: { polluted: 1 }\npolicies: []\n', 'a.yaml')
    expect('polluted' in {}).toBe(false)
  })
})

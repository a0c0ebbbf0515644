// XML and JSON start without the libraries of the PDF, although each section has its part of both.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const report = new URL('../../report/', import.meta.url)

/** The packages that a file loads, itself or by way of others. */
function packagesOf(file: string): string[] {
  const seen = new Set<string>()
  const packages = new Set<string>()
  const follow = (url: URL) => {
    if (seen.has(url.href)) return
    seen.add(url.href)
    for (const [, to = ''] of readFileSync(url, 'utf8').matchAll(/^(?:import|export) (?!type\b)[^']*?from '([^']+)'/gm))
      if (to.startsWith('.')) follow(new URL(to.replace(/\.js$/, '.ts'), url))
      else packages.add(to)
  }
  follow(new URL(file, report))
  return [...packages].sort()
}

it('XML and JSON load none of them', () => {
  const own = ['@svc/engine/parts', '@svc/proof', '@svc/schemas', 'node:crypto', 'xml-js']
  expect(packagesOf('formats/oscal.ts')).toEqual(own)
})

it('the PDF loads echarts and bidi-js', () => {
  expect(packagesOf('formats/pdf.ts')).toEqual(expect.arrayContaining(['echarts/core', 'bidi-js']))
})

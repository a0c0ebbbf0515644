// Every kind of finding is described, and its examples show it.
import { readFileSync } from 'node:fs'
import { findingKinds, validateText } from '@svc/engine/parts'
import { describe, expect, it } from 'vitest'
import { analysisKinds } from '../../../engine/findings/analysis-kinds.js'

const now = Date.UTC(2026, 10, 23)
const idsOf = (text: string) => {
  const { findings } = validateText(text, 'a.yaml', { tests: 'if-present', coverage: true, now })
  return findings.filter(({ severity }) => severity !== 'info').map(({ id }) => id)
}
/** Those of the analysis are checked with it. */
const isOfAnalysis = (id: string) => analysisKinds.some((kind) => kind.id === id)
const withExamples = findingKinds
  .filter(({ id }) => !isOfAnalysis(id))
  .flatMap(({ id, wrong, right }) => [
    ...(wrong === undefined ? [] : [{ id, wrong }]),
    ...(right === undefined ? [] : [{ id, right }]),
  ])

describe('a kind of finding', () => {
  it('has an id of its own and a section in docs/findings.md', () => {
    const ids = findingKinds.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const page = readFileSync(new URL('../../../docs/findings.md', import.meta.url), 'utf8')
    expect(ids.filter((id) => !page.includes(`\n## ${id}\n`))).toEqual([])
  })

  it.each(withExamples.filter((example) => 'wrong' in example))('$id is found in its example', ({ id, wrong }) => {
    expect(idsOf(wrong ?? '')).toContain(id)
  })

  it.each(withExamples.filter((example) => 'right' in example))('$id is not found in its correction', ({ right }) => {
    expect(idsOf(right ?? '')).toEqual([])
  })
})

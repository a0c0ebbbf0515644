// How many policies one transaction replaces at most, so that steps do not wait for a large push.
import type { Manifest } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { chunksOf } from '../../../platform/git/chunks.js'

const headOf = (policies: number) => ({
  at: () => ({
    kind: 'valid' as const,
    failed_tests: [],
    blob_sha: 'new',
    text: '',
    manifest: { name: '', version: '', policies: Array.from({ length: policies }) } as unknown as Manifest,
  }),
})

function sizes(policies: readonly number[], head: number, manifest_sha = 'old'): number[] {
  const assignments = policies.map((count) => ({ policies: count, manifest_path: 'a.yaml', manifest_sha }))
  const chunks = chunksOf(assignments, headOf(head))
  expect(chunks.flat()).toEqual(assignments)
  return chunks.map(({ length }) => length)
}

describe('chunks of assignments', () => {
  it('have at most ten assignments and two hundred policies, old and new', () => {
    expect(sizes([], 1)).toEqual([])
    expect(
      sizes(
        Array.from({ length: 25 }, () => 1),
        1,
      ),
    ).toEqual([10, 10, 5])
    expect(sizes([50, 50, 50], 50)).toEqual([2, 1])
    expect(sizes([900, 900], 900)).toEqual([1, 1])
    expect(sizes([900, 1, 1], 1)).toEqual([1, 2])
  })

  it('that change nothing count as small', () => {
    expect(
      sizes(
        Array.from({ length: 12 }, () => 900),
        900,
        'new',
      ),
    ).toEqual([10, 2])
  })
})

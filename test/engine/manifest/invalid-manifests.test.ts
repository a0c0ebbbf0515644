// The slips that authors of manifests make most: each with its id, place and exact message, through the core.
import { validateFiles } from '@svc/engine'
import { describe, expect, it } from 'vitest'
import { expectedFindings, invalidManifests, placesOf } from '../../support/engine/invalid-manifests.js'

const now = Date.UTC(2026, 10, 22)

describe('an invalid manifest', () => {
  it('is expected for at least forty slips', () => {
    expect(Object.keys(expectedFindings).length).toBeGreaterThanOrEqual(40)
    expect(invalidManifests.map(({ path }) => path)).toEqual(Object.keys(expectedFindings))
  })

  it.each(invalidManifests)('$path gets its findings', (file) => {
    const { findings } = validateFiles([file], { tests: 'if-present', now })
    expect(placesOf(findings)).toEqual(expectedFindings[file.path])
  })

  it('gets the same findings among the others as alone', () => {
    const { findings } = validateFiles(invalidManifests, { tests: 'if-present', now })
    for (const [path, expected] of Object.entries(expectedFindings))
      expect(placesOf(findings.filter(({ file }) => file === path))).toEqual(expected)
  })
})

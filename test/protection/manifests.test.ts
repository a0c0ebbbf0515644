// The manifests of the protection corpus: they are valid, they describe what they check, and their own tests pass.
import { existsSync, readFileSync } from 'node:fs'
import { type ManifestReading, parseManifest, runTests } from '@svc/engine'
import { describe, expect, it } from 'vitest'
import { domainNames, readDomain } from './corpus.js'

const written = domainNames().flatMap((name) => {
  const path = new URL(`./${name}/manifest.yaml`, import.meta.url)
  return existsSync(path) ? [[name, readFileSync(path, 'utf8')] as const] : []
})

describe.skipIf(written.length === 0).each(written)('the manifest of %s', (name, text) => {
  const reading: ManifestReading = parseManifest(text, `${name}/manifest.yaml`)
  const policies = reading.value?.policies ?? []

  it('has a licence, no error and no warning', () => {
    expect(text.split('\n')[0]).toBe('# SPDX-License-Identifier: Apache-2.0')
    expect([reading.errors, reading.warnings]).toEqual([[], []])
  })

  it('has 8 to 20 policies, each with a description', () => {
    expect(policies.length).toBeGreaterThanOrEqual(8)
    expect(policies.length).toBeLessThanOrEqual(20)
    expect(
      policies.filter(({ description = '' }) => (description ?? '').length < 80).map((policy) => policy.name),
    ).toEqual([])
  })

  it('asks a person where it stops a step by the authors of values', () => {
    const refusing = policies.filter(({ rule_type, severity, approval }) => {
      return rule_type.startsWith('value_') && severity === 'critical' && (approval ?? null) === null
    })
    expect(refusing.map((policy) => policy.name)).toEqual([])
  })

  it('names no task of the corpus', () => {
    const ids = readDomain(name).paths.map(({ id }) => id)
    expect(ids.filter((id) => text.includes(id))).toEqual([])
  })

  it('has tests, which pass', () => {
    const tests = reading.value?.tests ?? []
    expect(tests.length).toBeGreaterThanOrEqual(4)
    const results = reading.value === null ? [] : runTests(reading.value)
    expect(results.flatMap((result) => result.failures.map((failure) => `${result.name}: ${failure}`))).toEqual([])
  })
})

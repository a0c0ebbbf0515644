// POST /api/v1/manifests/validate finds what the commands find.
import { createChecker } from '@svc/engine/parts'
import { documents, type Problem, type ValidationReport } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectedFindings, invalidManifests, placesOf } from '../../support/engine/invalid-manifests.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const path = '/api/v1/manifests/validate'
const check = createChecker(Object.values(documents))('validation-report.json')
const policy = (name: string) =>
  `  - { name: ${name}, rule_type: field_not_empty, params: { field: step_name }, scope: step_execution, severity: critical }\n`
const manifest = `name: A\nversion: "1"\npolicies:\n${policy('P')}`
const tests = (count: number) =>
  `tests:\n${Array.from({ length: count }, (_, index) => `  - { name: t${index}, step: { step_type: step.exec }, expect: { action: block } }\n`).join('')}`

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => discard(platform))

const validate = (body: unknown) => platform.call<ValidationReport>('POST', path, { as: 'key', body })

describe('the validation of a text', () => {
  it.each(invalidManifests)('finds in $path what the core finds', async ({ path: file, text }) => {
    const { status, body } = await validate({ manifest: text, file })
    expect([status, placesOf(body.findings as never)]).toEqual([200, expectedFindings[file]])
    expect(check(body)).toEqual([])
  })

  it('runs the tests of a file beside it, with coverage', async () => {
    const { body } = await validate({ manifest, tests: tests(1), coverage: true })
    expect(body).toMatchObject({
      valid: true,
      errors: 0,
      manifests: [
        { name: 'A', policies: 1, tests: [{ name: 't0', passed: true }], coverage: { sides: 2, covered: 1 } },
      ],
      findings: [{ id: 'untested-policy', severity: 'info' }],
    })
    expect(check(body)).toEqual([])
  })

  it('does not run so many tests that other requests would wait', async () => {
    const policies = Array.from({ length: 100 }, (_, index) => policy(`P${index}`)).join('')
    const { body } = await validate({ manifest: manifest + policies.replace('P0', 'Q'), tests: tests(500) })
    expect(body.findings).toMatchObject([{ id: 'tests-not-run', severity: 'warning' }])
  })

  it('rejects a body that has no manifest, and callers without access', async () => {
    expect(await platform.call<Problem>('POST', path, { as: 'key', body: { text: manifest } })).toMatchObject({
      status: 422,
      body: { errors: expect.arrayContaining([expect.objectContaining({ message: '`manifest` is missing' })]) },
    })
    expect((await platform.call('POST', path, { as: null, body: { manifest } })).status).toBe(401)
  })
})

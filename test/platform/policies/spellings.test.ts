// POST /api/v1/policies accepts what a manifest accepts, and rejects the rest with the same messages: test/cases/policies-by-api.yaml.
import { readFileSync } from 'node:fs'
import { parseManifest } from '@svc/engine'
import { canonical } from '@svc/proof'
import type { JsonMap, Policy, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

interface Case {
  readonly name: string
  readonly set?: JsonMap
  readonly without?: readonly string[]
  readonly errors?: readonly string[]
  readonly says?: string
  readonly api_only?: boolean
}

const file = readFileSync(new URL('../../cases/policies-by-api.yaml', import.meta.url), 'utf8')
const { base, cases } = parse(file) as { base: JsonMap; cases: Case[] }

const policyOf = ({ set = {}, without = [] }: Case): JsonMap =>
  Object.fromEntries(Object.entries({ ...base, ...set }).filter(([name]) => !without.includes(name)))
/** The manifest as a file has it; characters that YAML takes as escapes only are escaped. */
const asManifest = (policy: JsonMap) =>
  parseManifest(
    JSON.stringify({ name: 'A', version: '1', policies: [policy] }).replaceAll(
      /[\u0085\u2028]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
    'a.yaml',
  )
const withoutPlace = (message: string) => message.replaceAll('policies[0].', '')

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'desk' } })
})
afterAll(() => discard(platform))

const create = (body: unknown) => platform.call<Policy & Problem>('POST', '/api/v1/policies', { body })

describe('a policy in a request', () => {
  it.each(cases)('with $name has the answer of a manifest', async (one) => {
    const policy = policyOf(one)
    const { status, body } = await create(policy)
    expect([status, body.errors?.map(({ path }) => path).sort()]).toEqual(
      one.errors === undefined ? [201, undefined] : [422, [...one.errors].sort()],
    )
    if (one.says !== undefined) expect(JSON.stringify(body.errors)).toContain(one.says)
    if (one.api_only === true) return
    const { value, errors } = asManifest(policy)
    expect(errors.map(({ path }) => path.replace(/^policies\.0\.?/, '')).sort()).toEqual([...(one.errors ?? [])].sort())
    for (const { message } of body.errors ?? [])
      expect(errors.some((error) => withoutPlace(error.message).endsWith(message))).toBe(true)
    if (one.errors === undefined) {
      const { 'x-owner': _x, metadata: _metadata, ...written } = (value?.policies[0] ?? {}) as JsonMap
      expect(body).toMatchObject(Object.fromEntries(Object.entries(written).filter(([, own]) => own !== null)))
    }
  })

  it('gets a readable name from its rule and its parameters', async () => {
    const { name: _, ...unnamed } = base
    expect((await create(unnamed)).body.name).toBe('Step requires gate: refund, 3')
    const long = { ...unnamed, params: { target_step_names: ['x'.repeat(300)] } }
    expect((await create(long)).body.name).toMatch(/^Step requires gate: x+…$/)
    const deep = {
      rule_type: 'not',
      params: { condition: { rule_type: 'field_not_empty', params: { field: 'input.a' } } },
    }
    expect((await create({ ...unnamed, ...deep })).body.name).toBe('Not')
  })

  it('is warned about words that no step has', async () => {
    const { body } = await create({ ...base, params: { target_step_types: ['step.resourc'] } })
    expect(body.warnings).toMatchObject([
      { path: 'params.target_step_types.0', message: expect.stringContaining('did you mean') },
    ])
  })

  it.each([
    [1000, 201],
    [1001, 422],
  ])('may have %d compound rules inside each other: %d', async (levels, status) => {
    let rule: JsonMap = { rule_type: 'field_not_empty', params: { field: 'input.a' } }
    for (let level = 0; level < levels; level++) rule = { rule_type: 'not', params: { condition: rule } }
    const made = await create({ ...base, ...rule })
    expect([made.status, made.body.errors?.map(({ path }) => path)]).toEqual([
      status,
      status === 201 ? undefined : ['params'],
    ])
    if (status !== 201) return
    const read = await platform.call<Policy>('GET', `/api/v1/policies/${made.body.id}`)
    expect(canonical(read.body.params) === canonical(rule.params)).toBe(true)
    const dry = await platform.call('POST', '/api/v1/policies/dry-run', { body: { ...base, ...rule } })
    expect(dry.status).toBe(200)
    expect((await platform.call('DELETE', `/api/v1/policies/${made.body.id}`)).status).toBe(200)
  })

  it.each([['[]'], ['null'], ['"x"'], ['5']])('is an object, not %s', async (raw) => {
    const { status, body } = await platform.call<Problem>('POST', '/api/v1/policies', { raw })
    expect([status, body.code]).toEqual([422, 'INVALID'])
  })
})

// A dry run of a policy that is being written: whose place it takes, and steps that were blocked when they were recorded.
import type { BatchAnswer, DryRunReport, Policy, Problem, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const rule = {
  name: 'Refunds have an amount',
  rule_type: 'field_not_empty',
  params: { field: 'input.amount', target_step_names: ['refund'] },
  scope: 'step_execution',
  severity: 'critical',
}
const refund = (input: object) => ({ step_type: 'step.resource', verb: 'POST', step_name: 'refund', input })

let platform: TestPlatform
let written: Policy
beforeAll(async () => {
  platform = await startPlatform()
  const body = { agent_key: 'desk' }
  const { agent_id } = (await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })).body
  const steps = [
    { step_type: 'task.start' },
    { ...refund({ to: 'zoe' }), output: { status: 'blocked' } },
    refund({ to: 'ann' }),
  ]
  const timestamp = '2026-03-02T09:00:00Z'
  const entries = steps.map((step, index) => ({ agent_id, task_id: 'refused', step: index + 1, timestamp, ...step }))
  const answer = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
  expect(answer.body.results.map(({ status }) => status)).toEqual([201, 201, 201])
  const made = await platform.call<Policy>('POST', '/api/v1/policies', { body: rule })
  written = made.body
})
afterAll(() => discard(platform))

const dryRun = async (body: object) => {
  const { status, body: report } = await platform.call<DryRunReport>('POST', '/api/v1/policies/dry-run', { body })
  expect([status, report]).toEqual([200, expect.anything()])
  return report
}
const named = ({ policies }: DryRunReport, name: string) => policies.filter((policy) => policy.name === name)

describe('a dry run of a policy', () => {
  it.each([{ policy: { ...rule, name: 'Renamed' } }, { ...rule, name: 'Renamed' }])(
    'takes the place of one policy by its id, also under another name: %j',
    async (body) => {
      const report = await dryRun({ ...body, in_place_of: written.id })
      expect([named(report, rule.name), named(report, 'Renamed')]).toMatchObject([[], [{ blocked: 2 }]])
      expect([report.policies.length, report.flips.total]).toEqual([report.old_policies.length, 0])
    },
  )

  it('takes the place of none with null, and of those with its name by default', async () => {
    const added = await dryRun({ policy: rule, in_place_of: null })
    const replaced = await dryRun({ policy: rule })
    expect([named(added, rule.name).length, named(replaced, rule.name).length]).toEqual([2, 1])
  })

  it('marks a step that was recorded as blocked, because it did not happen', async () => {
    const loose = { ...rule, params: { ...rule.params, field: 'input.to' } }
    const { flips, recorded_blocks } = await dryRun({ policy: loose, in_place_of: written.id })
    expect(flips.listed.map(({ step, happened }) => [step, happened])).toEqual([
      [2, false],
      [3, true],
    ])
    expect(recorded_blocks).toBe(1)
  })

  it('lists each step that violates the policy once, with its effect', async () => {
    const at = { in_place_of: null }
    const enforced = (await dryRun({ policy: { ...rule, name: 'x' }, ...at })).violations
    const place = { task_id: 'refused', step_type: 'step.resource', verb: 'POST', step_name: 'refund' }
    expect(enforced).toMatchObject({
      total: 2,
      did_not_happen: 1,
      listed: [
        { ...place, step: 2, happened: false, before: 'block', after: 'block', effect: 'blocks' },
        { ...place, step: 3, happened: true, before: 'block', after: 'block', effect: 'blocks' },
      ],
    })
    expect(enforced?.listed[0]?.reason).toContain('input.amount')
    for (const [more, effect] of [
      [{ mode: 'observe' }, 'observed'],
      [{ severity: 'high' }, 'warns'],
      [{ approval: {} }, 'asks'],
    ] as const) {
      const { violations } = await dryRun({ policy: { ...rule, ...more }, in_place_of: written.id })
      expect(violations?.listed.map((one) => one.effect)).toEqual([effect, effect])
    }
    expect((await dryRun({ manifest: JSON.stringify({ name: 'M', version: '1', policies: [rule] }) })).violations).toBe(
      undefined,
    )
  })

  it.each([
    { manifest: 'name: x', in_place_of: null },
    { policy: rule, in_place_of: 'one' },
    { policy: rule, in_place_of: 0 },
  ])('rejects %j', async (body) => {
    const { status, body: problem } = await platform.call<Problem>('POST', '/api/v1/policies/dry-run', { body })
    expect([status, problem.errors.map(({ path }) => path)]).toEqual([422, ['in_place_of']])
  })
})

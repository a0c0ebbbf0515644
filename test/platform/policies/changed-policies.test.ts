// The changes between two versions of a manifest as their event keeps them: bounded, and whole in the leaf.
import { waiverEnd } from '@svc/engine/parts'
import { isoTime, type Manifest } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { type LoggedChange, loggedChanges, type VersionOnAgent } from '../../../platform/policies/changed-policies.js'
import { policiesFor } from '../../../platform/policies/commands/put-manifest.js'

interface Written {
  readonly name: string
  readonly [member: string]: unknown
}

/** A version on an agent, as the platform makes it; `days` are the last days of its waivers by policy. */
function version(policies: readonly Written[], days: Readonly<Record<string, string>> = {}, sha = 'a'): VersionOnAgent {
  const written = policies.map((policy) => ({
    rule_type: 'execution_max_steps',
    params: { step_type: 'step.model', max_steps: 10 },
    scope: 'step_execution',
    severity: 'medium',
    ...policy,
  }))
  const manifest = { name: 'M', version: sha, policies: written } as unknown as Manifest
  const agent = { agent_id: 'ag_1', agent_key: 'desk', effective_risk_classification: 'limited' as const }
  const file = { path: 'm.yaml', blob_sha: sha, text: '' }
  const made = policiesFor(agent, { file, manifest, source: 'baseline' }, { assigned_at: sha, assigned_by: null })
  const waivers = Object.entries(days).map(([policy, day]) => ({
    policy,
    waived_until: isoTime(waiverEnd(day) ?? 0),
  }))
  return { policies: made.policies, waivers }
}

const many = Array.from({ length: 80 }, (_, index) => ({ name: `policy ${index}` }))
const one = [{ name: 'calls' }]

describe('the changes of a version', () => {
  const changes = (before: VersionOnAgent, after: VersionOnAgent) =>
    loggedChanges(before, after).in_leaf.changes as readonly LoggedChange[]

  it('are none where only the manifest has another SHA', () => {
    expect(loggedChanges(version(one), version(one, {}, 'b'))).toEqual({
      data: { changes: [], changes_left_out: 0 },
      in_leaf: { changes: [] },
    })
  })

  it.each([
    ['begins', {}, { calls: '2030-01-31' }, 'not set → 2030-01-31', 'looser'],
    ['is longer', { calls: '2030-01-31' }, { calls: '2030-02-28' }, '2030-01-31 → 2030-02-28', 'looser'],
    ['is shorter', { calls: '2030-01-31' }, { calls: '2030-01-30' }, '2030-01-31 → 2030-01-30', 'stricter'],
    ['ends', { calls: '2030-01-31' }, {}, '2030-01-31 → not set', 'stricter'],
  ])('name the last day of a waiver that %s', (_, before, after, what, effect) => {
    const [found] = changes(version(one, before), version(one, after))
    expect(found).toEqual({ name: 'calls', old_name: null, change: effect, values: [{ path: 'waiver', what, effect }] })
  })

  it('are at most 50, those that allow more first, and the others are counted', () => {
    const { data, in_leaf } = loggedChanges(
      version([...many, ...one]),
      version([...one, { name: 'new', rule_type: 'field_not_empty', params: { field: 'input.a' } }]),
    )
    const found = in_leaf.changes as readonly LoggedChange[]
    expect([found.length, data.changes_left_out, found[0]?.change]).toEqual([50, 31, 'removed'])
  })

  it('are null in the audit trail where they are long, and whole in the leaf', () => {
    const { data, in_leaf } = loggedChanges(version(many), version([]))
    expect([data.changes, (in_leaf.changes as unknown[]).length]).toEqual([null, 50])
    const short = loggedChanges(version(one), version([{ name: 'calls', severity: 'high' }]))
    expect(short.data.changes).toEqual(short.in_leaf.changes)
  })

  it('cut long values', () => {
    const [found] = changes(version(one), version([{ name: 'calls', description: 'x'.repeat(10_000) }]))
    expect(found?.values[0]?.what.length).toBeLessThanOrEqual(301)
  })
})

// The semantic diff of manifests.
import { readFileSync } from 'node:fs'
import { parseManifest } from '@svc/engine'
import { diffFiles, diffManifests, diffMarkdown, diffText, type MemberChange } from '@svc/engine/parts'
import type { Manifest } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

type Policy = Manifest['policies'][number]

interface PolicyCase {
  readonly name: string
  readonly old: Partial<Policy>
  readonly new: Partial<Policy>
  /** Null: the policies are equal. */
  readonly change: string | null
  readonly members?: readonly string[]
}

const { base, policies } = parse(readFileSync(new URL('../../cases/manifests/diff.yaml', import.meta.url), 'utf8')) as {
  base: Partial<Policy>
  policies: readonly PolicyCase[]
}

const manifest = (written: readonly Partial<Policy>[], more: Partial<Manifest> = {}): Manifest => {
  const text = JSON.stringify({
    name: 'M',
    version: '1',
    policies: written.map((one) => ({ ...base, ...one })),
    ...more,
  })
  const { value, errors } = parseManifest(text, 'm.yaml')
  expect(errors).toEqual([])
  return value as Manifest
}

const words = (value: unknown) =>
  value === undefined ? 'not set' : typeof value === 'string' ? value : JSON.stringify(value)
const member = ({ path, old, new: next, effect }: MemberChange) => `${path} ${words(old)} → ${words(next)} (${effect})`

const opposite: Record<string, string> = { stricter: 'looser', looser: 'stricter' }

describe('two versions of a policy', () => {
  it.each(policies)('$name', ({ old, new: next, change, members = [] }) => {
    const [found] = diffManifests(manifest([old]), manifest([next])).policies
    expect(found?.change ?? null).toBe(change)
    expect((found?.members ?? []).map(member)).toEqual(members)
  })

  it.each(policies)('$name, the other way round', ({ old, new: next, change }) => {
    const [found] = diffManifests(manifest([next]), manifest([old])).policies
    expect(found?.change ?? null).toBe(change === null ? null : (opposite[change] ?? change))
  })
})

const gate = { rule_type: 'step_requires_gate' as const }
const few = (max_steps: number) => ({
  name: 'Few',
  rule_type: 'execution_max_steps' as const,
  params: { step_type: 'step.exec', max_steps },
})
const waiver = (expires: string, agent_key = 'night', policy = 'P') => ({
  waivers: [{ policy, agent_key, reason: 'r', approved_by: 'a', expires }],
})

describe('two versions of a manifest', () => {
  it('have policies that are added and removed, in any order', () => {
    const diff = diffManifests(
      manifest([few(1), gate]),
      manifest([
        gate,
        few(1),
        { ...gate, name: 'Q', scope: 'step_execution', severity: 'low', params: { max_age_steps: 2 } },
      ]),
    )
    expect(diff.policies).toEqual([{ name: 'Q', change: 'added', members: [] }])
    expect(diff.counts).toEqual({ added: 1, removed: 0, stricter: 0, looser: 0, changed: 0 })
  })

  it('know a policy by its content when its name changes', () => {
    const diff = diffManifests(manifest([gate]), manifest([{ ...gate, name: 'Q', severity: 'low' }]))
    expect(diff.policies).toMatchObject([{ name: 'Q', old_name: 'P', change: 'looser' }])
    const renamed = diffManifests(manifest([gate]), manifest([{ ...gate, name: 'Q' }]))
    expect(renamed.policies).toEqual([{ name: 'Q', old_name: 'P', change: 'none', members: [] }])
  })

  it('are null where the file is added or deleted', () => {
    expect(diffManifests(null, manifest([gate])).policies).toEqual([{ name: 'P', change: 'added', members: [] }])
    expect(diffManifests(manifest([gate]), null)).toMatchObject({
      old: { name: 'M' },
      new: null,
      counts: { removed: 1 },
    })
    expect(diffManifests(null, null).policies).toEqual([])
  })

  it('have names like members of objects', () => {
    const odd = ['__proto__', 'constructor', 'toString'].map((name) => ({ ...gate, name }))
    expect(diffManifests(manifest(odd), manifest(odd)).policies).toEqual([])
    expect(diffManifests(manifest(odd), manifest([gate])).counts).toMatchObject({ removed: 2 })
  })

  it('are serialisable', () => {
    const diff = diffManifests(manifest([few(3)]), manifest([few(2)], waiver('2027-01-31', 'night', 'Few')), [
      { agent_key: 'night' },
    ])
    expect(JSON.parse(JSON.stringify(diff))).toEqual(diff)
  })
})

describe('waivers', () => {
  const changes = (old: Partial<Manifest>, next: Partial<Manifest>) =>
    diffManifests(manifest([gate], old), manifest([gate], next)).waivers
  const named = { policy: 'P', agent_key: 'night' }

  it('loosen their policy when they are added or last longer', () => {
    expect(changes({}, waiver('2027-01-31'))).toEqual([{ ...named, new: '2027-01-31', change: 'looser' }])
    expect(changes(waiver('2027-01-31'), waiver('2027-02-28'))).toMatchObject([{ old: '2027-01-31', change: 'looser' }])
  })

  it('make it stricter when they are removed or end earlier', () => {
    expect(changes(waiver('2027-01-31'), {})).toEqual([{ ...named, old: '2027-01-31', change: 'stricter' }])
    expect(changes(waiver('2027-01-31'), waiver('2026-12-31'))).toMatchObject([{ change: 'stricter' }])
    expect(changes(waiver('2027-01-31'), waiver('2027-01-31'))).toEqual([])
  })

  it('follow a policy to its new name', () => {
    const renamed = manifest([{ ...gate, name: 'Q' }], waiver('2027-01-31', 'night', 'Q'))
    expect(diffManifests(manifest([gate], waiver('2027-01-31')), renamed).waivers).toEqual([])
  })

  it('of a policy that is added loosen nothing', () => {
    expect(diffManifests(null, manifest([gate], waiver('2027-01-31'))).waivers).toMatchObject([{ change: 'none' }])
  })
})

describe('for each agent', () => {
  const agents = [
    { agent_key: 'night', name: 'Night batch', risk_classification: 'limited' },
    { agent_key: 'desk', risk_classification: 'high' },
  ]
  const changesFor = (old: Manifest | null, next: Manifest | null) =>
    diffManifests(old, next, agents).agents.map(({ agent_key, policies: found, ungoverned }) => ({
      agent_key,
      ungoverned,
      policies: found.map(({ name, change }) => `${change} ${name}`),
    }))

  it('a policy of a higher level has no effect', () => {
    const level = { risk_classification: 'high' as const }
    const diff = changesFor(manifest([gate, { ...few(5), ...level }]), manifest([gate, { ...few(3), ...level }]))
    expect(diff).toMatchObject([{ policies: [] }, { agent_key: 'desk', policies: ['stricter Few'] }])
  })

  it('a changed level adds or removes the policy, or has no effect', () => {
    const [old, next] = [manifest([gate, few(5)]), manifest([gate, { ...few(5), risk_classification: 'high' }])]
    expect(changesFor(old, next)).toMatchObject([{ policies: ['removed Few'] }, { policies: [] }])
    expect(changesFor(next, old)).toMatchObject([{ policies: ['added Few'] }, { policies: [] }])
  })

  it('a waiver is part of the change', () => {
    const next = manifest([gate], waiver('2027-01-31'))
    expect(changesFor(manifest([gate]), next)).toMatchObject([{ policies: ['looser P'] }, { policies: [] }])
    const both = manifest([{ ...gate, params: { max_age_steps: 1 } }], waiver('2027-01-31'))
    expect(changesFor(manifest([gate]), both)).toMatchObject([
      { policies: ['changed P'] },
      { policies: ['stricter P'] },
    ])
  })

  it('none is left: the agent is ungoverned', () => {
    const next = manifest([
      { ...gate, enabled: false },
      { ...few(5), risk_classification: 'high' },
    ])
    expect(changesFor(manifest([gate, few(5)]), next)).toMatchObject([{ ungoverned: true }, { ungoverned: false }])
    expect(diffManifests(manifest([gate]), null, agents).affected_agents).toEqual(['night', 'desk'])
  })

  it('is governed while another of its manifests has a policy', () => {
    const files = [
      { path: 'a.yaml', aliases: ['policies/a.yaml'], old: manifest([gate]), next: null },
      { path: 'b.yaml', old: manifest([gate]), next: manifest([gate]) },
    ]
    const inventory = [
      { agent_key: 'one', manifests: ['./policies/a.yaml'] },
      { agent_key: 'two', manifests: ['a.yaml', 'b.yaml'] },
      { agent_key: 'three', manifests: ['a.yaml', 'elsewhere.yaml'] },
      { agent_key: 'four' },
    ]
    const report = diffFiles(files, inventory)
    expect(report).toMatchObject({ compared: 2, ungoverned_agents: ['one'] })
    expect(report.affected_agents).toEqual(['one', 'two', 'three', 'four'])
    expect(report.manifests.map(({ path }) => path)).toEqual(['a.yaml'])
  })
})

describe('hostile names', () => {
  const name = 'a | <b>`c` @team [x](y)\n\u001b[31m\u202e'
  // No manifest with such a name loads; the text of a diff does not depend on that.
  const plain = manifest([gate])
  const old = { ...plain, policies: plain.policies.map((policy) => ({ ...policy, name })) }
  const report = diffFiles([{ path: name, old, next: null }], [{ agent_key: name, name }])

  it('keep to their line in text', () => {
    const lines = diffText(report)
    expect(lines.filter((line) => /[\p{Cc}\p{Bidi_Control}]/u.test(line))).toEqual([])
    expect(lines.join('\n')).toContain('removed    a | <b>`c` @team [x](y)')
  })

  it('start nothing in Markdown', () => {
    const text = diffMarkdown(report)
    expect(text).not.toMatch(/<b>|@team|(?<!\\)\[x|(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
    for (const row of text.split('\n').filter((line) => line.startsWith('|')))
      expect(row.replaceAll('\\|', '').split('|').length).toBe(5)
  })
})

describe('large manifests', () => {
  const leaf = (max_steps: number) => ({ rule_type: few(0).rule_type, params: { step_type: 'step.exec', max_steps } })

  it('have conditions as deep as policies may be', () => {
    const deep = (max_steps: number) => {
      let condition: Pick<Policy, 'rule_type' | 'params'> = leaf(max_steps)
      for (let depth = 0; depth < 900; depth++)
        condition =
          depth % 2 === 0
            ? { rule_type: 'all_of', params: { conditions: [leaf(7), condition] } }
            : { rule_type: 'not', params: { condition } }
      return manifest([condition])
    }
    expect(diffManifests(deep(5), deep(6)).policies).toMatchObject([
      { change: 'looser', members: [{ old: 5, new: 6 }] },
    ])
  })

  it('have as many policies and agents as a company', () => {
    const many = (more: number) =>
      manifest(Array.from({ length: 1000 }, (_, index) => ({ ...few(index + more), name: `P${index}` })))
    const agents = Array.from({ length: 1000 }, (_, index) => ({ agent_key: `agent-${index}` }))
    const diff = diffManifests(many(0), many(1), agents)
    expect([diff.counts.looser, diff.affected_agents.length]).toEqual([1000, 1000])
  })
})

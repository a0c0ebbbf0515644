// What guards hold, as pushes that an honest author makes and pushes that take protection away: test/cases/guards.yaml.
import { readFileSync } from 'node:fs'
import { waiverEnd } from '@svc/engine/parts'
import { isoTime, type Manifest } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type OnAgent, trippedGuards } from '../../../platform/git/guards.js'
import { policiesFor } from '../../../platform/policies/commands/put-manifest.js'

type Given = string | { readonly of: string; readonly [member: string]: unknown }

interface Case {
  readonly name: string
  readonly approved?: readonly Given[]
  readonly before: readonly Given[]
  readonly after: readonly Given[]
  /** The last day of each waiver by policy, as a manifest names it. */
  readonly waivers?: Readonly<Partial<Record<'before' | 'after', Readonly<Record<string, string>>>>>
  readonly held: readonly string[]
}

const { policies, cases } = parse(readFileSync(new URL('../../cases/guards.yaml', import.meta.url), 'utf8')) as {
  readonly policies: Readonly<Record<string, object>>
  readonly cases: readonly Case[]
}

/** The policies as they are on an agent, as the platform makes them from a manifest. */
function onAgent(given: readonly Given[], waivers: Readonly<Record<string, string>> = {}): OnAgent {
  const written = given.map((one) => {
    const { of: name, ...more } = typeof one === 'string' ? { of: one } : one
    return { name, scope: 'step_execution', ...policies[name], ...more }
  })
  const manifest = { name: 'Refunds', version: '1', policies: written } as unknown as Manifest
  const file = { path: 'refunds.yaml', blob_sha: '', text: '' }
  const agent = { agent_id: 'ag_1', agent_key: 'a', effective_risk_classification: 'limited' as const }
  const made = policiesFor(agent, { file, manifest, source: 'baseline' }, { assigned_at: '', assigned_by: null })
  return {
    policies: made.policies,
    waivers: Object.entries(waivers).map(([policy, day]) => ({ policy, waived_until: isoTime(waiverEnd(day) ?? 0) })),
  }
}

describe('guards', () => {
  it.each(cases)('$name', ({ approved, before, after, waivers = {}, held }) => {
    const known = { in_force: onAgent(before, waivers.before), approved: approved ? onAgent(approved) : null }
    const reasons = trippedGuards(known, onAgent(after, waivers.after))
    expect([reasons.length, reasons]).toEqual([held.length, held.map((words) => expect.stringContaining(words))])
  })
})

// The policies of a platform that change between two steps: the source of `svc serve` without its requests.
import type { Agent, EffectivePolicies, Policy } from '@svc/schemas'
import { emptyMemory, learn, type Memory } from '../../../engine/source/memory.js'
import type { PolicySource } from '../../../engine/source/source.js'
import { policyDefaults } from './policy.js'

/** A version of a manifest as a platform sends it. */
export interface SentManifest {
  readonly manifest_id: string
  readonly sha: string
  readonly pin?: 'task'
  readonly policies: readonly SentPolicy[]
}

export type SentPolicy = Pick<Policy, 'rule_type' | 'params'> & Partial<Policy>

export const platformAgent: Agent = {
  agent_id: 'ag_1',
  agent_key: 'desk',
  name: 'desk',
  purpose: null,
  owner_id: null,
  risk_classification: 'minimal',
  effective_risk_classification: 'minimal',
  environment: 'test',
  declared_tools: null,
  attributes: {},
  active: true,
  created_at: '2026-01-05T09:00:00.000Z',
  updated_at: '2026-01-05T09:00:00.000Z',
}

/** The policies of each version have ids of their own, in the order of the platform's. */
export function answerWith(
  manifests: readonly SentManifest[],
  earlier: readonly SentManifest[] = [],
): EffectivePolicies {
  return {
    agent: platformAgent,
    policies: manifests.flatMap(policiesOf),
    policies_offered: 0,
    manifests: manifests.map(({ policies: _, ...manifest }) => ({
      ...manifest,
      name: 'Desk',
      repo: null,
      path: 'desk.yaml',
    })),
    earlier: earlier.map((manifest) => ({
      manifest_id: manifest.manifest_id,
      sha: manifest.sha,
      until: '2026-01-05T09:00:00.000Z',
      policies: policiesOf(manifest),
    })),
    ttl_seconds: 300,
  }
}

function policiesOf({ manifest_id, sha, policies }: SentManifest): Policy[] {
  const first = 1 + (Number.parseInt(sha.slice(0, 4), 16) || 0) * 1000
  return policies.map((policy, index) => ({
    ...policyDefaults,
    id: first + index,
    name: policy.rule_type,
    severity: 'high',
    ...policy,
    manifest_id,
    manifest_sha: sha,
  }))
}

export interface ChangingSource extends PolicySource {
  /** What the platform answers from now on; null: it cannot be reached. */
  readonly answer: (body: EffectivePolicies | null) => void
}

/** A source that has not asked its platform yet. */
export function changingSource(clock: () => number): ChangingSource {
  const cache = { read: () => null, write: () => undefined, remove: () => undefined }
  const parts = { cache, ttl: null, clock, report: () => undefined }
  let memory: Memory = emptyMemory(clock(), null)
  return {
    answer: (body) => {
      const failed = { kind: 'failed', problem: 'away', retry_after: null, is_cut: false, is_rejected: false } as const
      const fetched =
        body && ({ kind: 'fetched', fetched: { body, etag: null, fetched_at: clock() }, holds: false } as const)
      memory = learn(memory, fetched ?? failed, parts).next
    },
    current: () => memory.current,
    reload: async () => memory.current,
    close: async () => undefined,
  }
}

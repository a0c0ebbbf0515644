// From a manifest to the policies of one agent (docs/design/engine.md §4).
import { createHash } from 'node:crypto'
import type { Agent, Manifest, Policy } from '@svc/schemas'
import { levelApplies } from '../../agent/risk.js'
import { waiverEnd } from './waiver-days.js'

export interface Assignment {
  /** Canonical URL of the repository, `bundled`, `baseline` or `file`. */
  readonly source: string
  readonly path: string
  readonly sha: string
  /** Null when the policies apply to every agent: a local engine with files. */
  readonly agent: Pick<Agent, 'agent_id' | 'risk_classification'> | null
  readonly assigned_at: string | null
  readonly assigned_by: string | null
}

export interface Materialised {
  readonly manifest_id: string
  readonly policies: readonly Omit<Policy, 'id' | 'version' | 'waived_until'>[]
  /** Names of policies of a level above the agent's. */
  readonly skipped: readonly string[]
}

/** `man_` and the first 32 hex digits of SHA-256(source NUL path). */
export function manifestIdOf(source: string, path: string): string {
  return `man_${createHash('sha256').update(`${source}\0${path}`).digest('hex').slice(0, 32)}`
}

/** Policies of the manifest for one agent, with their provenance; policies of a level above the agent's are skipped. */
export function materialise(manifest: Manifest, assignment: Assignment): Materialised {
  const { agent, source, path } = assignment
  const manifest_id = manifestIdOf(source, path)
  const applies = (policy: Manifest['policies'][number]) =>
    agent === null || levelApplies(policy.risk_classification ?? null, agent.risk_classification)
  const provenance = {
    manifest_id,
    manifest_name: manifest.name,
    manifest_repo: /^(bundled|baseline|file)$/.test(source) ? null : source,
    manifest_path: path,
    manifest_sha: assignment.sha,
    manifest_assigned_at: assignment.assigned_at,
    manifest_assigned_by: assignment.assigned_by,
  }
  const policies = manifest.policies.filter(applies).map((policy) => ({
    name: policy.name,
    rule_type: policy.rule_type,
    params: policy.params ?? {},
    scope: policy.scope,
    severity: policy.severity,
    description: policy.description ?? null,
    risk_classification: policy.risk_classification ?? null,
    agent_id: agent?.agent_id ?? null,
    enabled: policy.enabled ?? true,
    mode: policy.mode ?? 'enforce',
    ...(policy.approval != null && { approval: policy.approval }),
    controls: policy.controls ?? [],
    ...provenance,
  }))
  const skipped = manifest.policies.filter((policy) => !applies(policy)).map((policy) => policy.name)
  return { manifest_id, policies, skipped }
}

/**
 * The time when the waiver of each policy for an agent ends, ms since 1970: at 24:00 UTC of the day that it names. The longer of
 * two waivers counts. Without an agent no policy is waived.
 */
export function waivedUntil(manifest: Manifest, agent_key: string | null): ReadonlyMap<string, number> {
  const until = new Map<string, number>()
  for (const waiver of manifest.waivers ?? []) {
    const end = waiverEnd(waiver.expires)
    if (waiver.agent_key !== agent_key || end === null) continue
    until.set(waiver.policy, Math.max(end, until.get(waiver.policy) ?? 0))
  }
  return until
}

// The members of a policy that the tests do not vary: written by hand, for every agent, enforced.
export const policyDefaults = {
  scope: 'step_execution',
  description: null,
  risk_classification: null,
  agent_id: null,
  enabled: true,
  mode: 'enforce',
  controls: [] as string[],
  version: 1,
  manifest_id: null,
  manifest_name: null,
  manifest_repo: null,
  manifest_path: null,
  manifest_sha: null,
  manifest_assigned_at: null,
  manifest_assigned_by: null,
} as const

// The list of policies.
import type { Policy } from '@svc/schemas'
import { agentLink, nameOf } from '../../agents.js'
import { listPage } from '../../lists/list-page.js'
import type { Column, Listing } from '../../lists/listing.js'
import { api, paths } from '../../paths.js'
import { badge, type Html, hash, joined, link, nothing, piece, severity, text } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { notFound } from './manifest-source.js'
import { isOfStop, scopeLabels } from './words.js'

const levels = ['minimal', 'limited', 'high', 'unacceptable', 'unclassified'] as const

export const policies: Listing<Policy> = {
  place: 'policies',
  title: 'Policies',
  path: '/policies',
  schema: 'policy-list',
  rows: 'policies',
  endpoint: '/api/v1/policies',
  filters: [
    { kind: 'text', name: 'q', label: 'Name contains' },
    { kind: 'choice', name: 'severity', label: 'Severity', values: ['critical', 'high', 'medium', 'low'] },
    {
      kind: 'choice',
      name: 'mode',
      label: 'Mode',
      values: [
        ['enforce', 'enforced'],
        ['observe', 'observed only'],
      ],
    },
    {
      kind: 'choice',
      name: 'enabled',
      label: 'State',
      values: [
        ['true', 'enabled'],
        ['false', 'disabled'],
      ],
    },
    {
      kind: 'choice',
      name: 'source',
      label: 'Source',
      values: [
        ['manifest', 'a manifest'],
        ['hand', 'written here'],
      ],
    },
    { kind: 'choice', name: 'scope', label: 'Evaluates', values: Object.entries(scopeLabels) },
    { kind: 'choice', name: 'risk_classification', label: 'Risk level', values: levels },
    { kind: 'text', name: 'rule_type', label: 'Rule' },
  ],
  presets: [
    ['Enforced', { mode: 'enforce', enabled: 'true' }],
    ['Observed only', { mode: 'observe', enabled: 'true' }],
    ['Disabled', { enabled: 'false' }],
    ['Written here', { source: 'hand' }],
    ['From manifests', { source: 'manifest' }],
    ['Deleted', { deleted: 'true' }],
  ],
  heading,
  columns,
  empty:
    'No policy is here yet. Write one with the button above, or assign a manifest to an agent on the page of manifests.',
  above,
}

/** Whose policies they are, with the filter of one agent. */
async function heading({ api: { read }, query: { agent_id } }: Visit): Promise<string> {
  if (agent_id === undefined) return 'Policies'
  // A filter that no agent has is an empty list.
  const found = await read('agent', api`/api/v1/agents/${agent_id}`).catch(notFound)
  return found === null ? 'Policies' : `Policies of ${nameOf(found)}`
}

async function columns({ query: { agent_id } }: Visit): Promise<readonly Column<Policy>[]> {
  const applies = { head: 'Applies to', cell: targetOf }
  return [
    { head: 'Policy', cell: ({ id, name }) => link(paths.policy(id), name) },
    { head: 'Rule', cell: ({ rule_type }) => link(paths.policies({ rule_type }), rule_type) },
    { head: 'Severity', cell: ({ severity: value }) => severity(value) },
    { head: 'Mode', cell: modeBadges },
    { head: 'Evaluates', cell: ({ scope }) => text(scopeLabels[scope]) },
    ...(agent_id === undefined ? [applies] : []),
    { head: 'Source', cell: sourceOf },
  ]
}

/** The mode, and why the policy is not in force. */
export function modeBadges({ mode, enabled, deleted_at = null }: Policy): Html {
  if (deleted_at !== null) return badge('deleted')
  if (!enabled) return badge('disabled')
  return mode === 'enforce' ? badge('enforced', 'green') : badge('observed only', 'yellow')
}

/** The agents that the policy applies to. */
export function targetOf({ agent_id, agent_name, risk_classification: level }: Policy): Html {
  if (agent_id !== null) return agentLink({ agent_id, agent_name: agent_name ?? '' })
  return text(level === null ? 'all agents' : `agents of risk level ${level}`)
}

function sourceOf(policy: Policy): Html {
  const { manifest_id, manifest_name, manifest_repo, manifest_path, manifest_sha, commit_sha = null } = policy
  if (manifest_id === null) return text(isOfStop(policy) ? 'a stop' : 'written here')
  return joined([
    link(paths.policies({ manifest_id }), manifest_name ?? manifest_id),
    text(manifest_path === null ? '@' : `${manifest_path} @`),
    ...(manifest_repo === null ? [text('bundled library,')] : []),
    ...(commit_sha === null ? [text('blob'), hash(manifest_sha, 7)] : [text('commit'), hash(commit_sha, 7)]),
  ])
}

async function above({ api: { may } }: Visit): Promise<Html> {
  return may('post', '/api/v1/policies') ? button({ href: paths.new_policy() }) : nothing
}

const button = piece('<p class="no-print"><a class="btn btn-primary" href="{{href}}">Write a policy</a></p>\n')

export const policiesPage = listPage(policies)

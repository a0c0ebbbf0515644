// The page of a policy: what it checks, on which agents, where it comes from, what it found, and its switches.

import type { Assignment, Policy, Rule } from '@svc/schemas'
import { nameOf as agentName } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { api, paths } from '../../paths.js'
import { type Named, peopleOf } from '../../people.js'
import {
  badge,
  type Html,
  hash,
  id,
  joined,
  json,
  link,
  number,
  outside,
  piece,
  severity,
  text,
  ticked,
  time,
} from '../../views/html.js'
import { facts } from '../../views/pieces.js'
import type { Act, Shown, Visit } from '../../visit.js'
import { bundled, commitOf } from '../manifests/words.js'
import { modeBadges, targetOf } from './list.js'
import { type ManifestSource, manifestSourceOf } from './manifest-source.js'
import { hintOf, labelOf } from './parameters.js'
import { approvalText, effectSentence, isOfStop, scopeLabels } from './words.js'

/** The address of the policy in the API. */
export function policyPath({ params }: Pick<Visit, 'params'>): string {
  return api`/api/v1/policies/${params.id ?? ''}`
}

async function show(visit: Visit): Promise<Shown> {
  const { read } = visit.api
  const policy = await read('policy', policyPath(visit))
  const [{ rules }, nameOf, found, yaml] = await Promise.all([
    read('rule-list', '/api/v1/policies/rules'),
    peopleOf(visit),
    incidentsOf(visit, policy.id),
    manifestSourceOf(visit, policy),
  ])
  const rule = rules.find(({ name }) => name === policy.rule_type)
  const content = view({
    badges: joined([severity(policy.severity), modeBadges(policy)]),
    checks: ticked(rule?.doc ?? 'This release does not have the rule.'),
    description: ticked(policy.description ?? ''),
    has_description: policy.description !== null,
    conditions: conditionsOf(policy, rules),
    effect:
      policy.deleted_at == null
        ? effectSentence(policy)
        : 'Deleted: nothing is evaluated. Its incidents can still be read.',
    notice: noticeOf(policy),
    parameters: parametersOf(policy, rule),
    found,
    facts: facts(factsOf(policy), 'narrow'),
    source: facts(sourceOf(policy, yaml, nameOf), 'narrow'),
    yaml: yaml?.text ?? '',
    acts: actsOf(visit, policy),
    links: linksOf(visit, policy),
    csrf: visit.csrf,
  })
  return { title: policy.name, place: 'policies', content: content.toHTML() }
}

const view = piece(`<div class="row"><div class="col-lg-8">
<section class="card"><div class="card-body"><p class="mb-2">{{badges}}</p>
<h2 class="h3">What it checks</h2><p class="fs-3">{{checks}}</p>
{{#if conditions}}<ul>{{#each conditions}}<li>{{this}}</li>{{/each}}</ul>{{/if}}
{{#if has_description}}<p class="lines"><bdi>{{description}}</bdi></p>{{/if}}
<h2 class="h3">What follows</h2><p class="mb-0">{{effect}}</p></div>
{{#if acts}}<form class="card-footer no-print" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="btn-list">
{{#each links}}<a class="btn" href="{{href}}">{{label}}</a>{{/each}}{{#each acts}}<button class="btn" name="act" value="{{name}}">{{label}}</button>{{/each}}</div></form>{{/if}}</section>
{{#if notice}}<div class="alert alert-info">{{notice}}</div>
{{/if}}<section class="card"><div class="card-header"><h2 class="card-title">Parameters</h2></div>
<div class="card-body">{{#if parameters}}<dl class="facts">{{#each parameters}}<dt>{{label}}</dt><dd>{{value}}{{#if hint}}<div class="form-hint">{{hint}}</div>{{/if}}</dd>{{/each}}</dl>{{else}}<p class="mb-0">The policy sets no parameter: the rule works with its defaults.</p>{{/if}}</div></section>
{{#if yaml}}<section class="card"><div class="card-header"><h2 class="card-title">In the manifest</h2></div><div class="card-body"><pre class="json unwrapped" tabindex="0"><code>{{yaml}}</code></pre></div></section>
{{/if}}</div><div class="col-lg-4">
<section class="card"><div class="card-header"><h2 class="card-title">Its incidents</h2></div>
<ul class="list-group list-group-flush">{{#each found}}<li class="list-group-item d-flex justify-content-between"><span>{{label}}</span>{{count}}</li>{{/each}}</ul></section>
<section class="card"><div class="card-header"><h2 class="card-title">Policy</h2></div>
<div class="card-body">{{facts}}</div></section>
<section class="card"><div class="card-header"><h2 class="card-title">Source</h2></div>
<div class="card-body">{{source}}</div></section>
</div></div>
`)

/** The sentences of the rules that a compound rule combines. */
function conditionsOf({ params }: Policy, rules: readonly Rule[]): Html[] {
  const { conditions, condition } = params as { conditions?: unknown; condition?: unknown }
  const given = Array.isArray(conditions) ? conditions : condition === undefined ? [] : [condition]
  return given.map(({ rule_type }: { readonly rule_type?: unknown }) => {
    const doc = rules.find(({ name }) => name === rule_type)?.doc ?? ''
    return ticked(`\`${rule_type}\` ${doc}`)
  })
}

const incidentViews = [
  ['Open', { state: 'open' }],
  ['In review', { state: 'active' }],
  ['Resolved', { state: 'resolved' }],
  ['Ignored', { state: 'ignored' }],
  ['All', {}],
] as const

function incidentsOf({ api: { read } }: Visit, policy_id: number) {
  return Promise.all(
    incidentViews.map(async ([label, query]) => {
      const filter = { policy_id: String(policy_id), ...query }
      const { total } = await read('incident-list', '/api/v1/incidents', { ...filter, limit: '1' })
      return { label, count: link(paths.incidents(filter), number(total)) }
    }),
  )
}

/** Who changes the policy, where it is not this page. */
function noticeOf(policy: Policy): Html | '' {
  if (policy.deleted_at != null) return ''
  if (isOfStop(policy))
    return text('This policy is part of a stop. It ends when the agents are resumed, and cannot be changed here.')
  if (policy.manifest_id === null) return ''
  return text(
    `This policy comes from the manifest ${policy.manifest_name}. Its rule, parameters and target are changed in that file. Here it can be enabled, disabled, enforced and observed; that stays set when the manifest changes.`,
  )
}

function parametersOf({ params }: Policy, rule: Rule | undefined) {
  const { properties = {} } = (rule?.params ?? {}) as { properties?: Record<string, { description?: string }> }
  const known = Object.keys(properties).filter((name) => Object.hasOwn(params, name))
  const others = Object.keys(params).filter((name) => !Object.hasOwn(properties, name))
  return [...known, ...others].map((name) => ({
    label: labelOf(name),
    value: shownValue(params[name]),
    hint: ticked(hintOf(properties[name]?.description ?? '')),
  }))
}

function shownValue(value: unknown): Html {
  if (typeof value === 'boolean') return text(value ? 'yes' : 'no')
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return joined(
      value.map((one) => codeView({ text: typeof one === 'string' ? one : JSON.stringify(one) })),
      ', ',
    )
  return typeof value === 'object' ? json(value) : codeView({ text: String(value) })
}

const codeView = piece('<code><bdi>{{text}}</bdi></code>')

function factsOf(policy: Policy): (readonly [string, Html])[] {
  const { approval = null, waived_until = null, overridden = null, deleted_at = null } = policy
  return [
    ['Rule', link(paths.policies({ rule_type: policy.rule_type }), policy.rule_type)],
    ['Applies to', targetOf(policy)],
    ['Evaluates', text(scopeLabels[policy.scope])],
    ...(approval === null ? [] : [['Approval', text(approvalText(approval))] as const]),
    ...(waived_until === null ? [] : [['Waived until', time(waived_until)] as const]),
    ...Object.entries(overridden ?? {}).map(
      ([name, value]) =>
        [
          labelOf(name),
          joined([
            badge('set here', 'yellow'),
            text(`In the manifest: ${value === true ? 'enabled' : value === false ? 'disabled' : value}.`),
          ]),
        ] as const,
    ),
    ...(deleted_at === null ? [] : [['Deleted', time(deleted_at)] as const]),
    ['Policy id', id(policy.id)],
    ['Version', text(policy.version)],
    ['Changes', link(paths.events({ kind: 'policy.', subject: policy.id }), 'in the audit trail')],
    ...(policy.controls.length === 0
      ? []
      : [['Controls', joined(policy.controls.map((control) => text(control)))] as const]),
  ]
}

function sourceOf(policy: Policy, yaml: ManifestSource | null, nameOf: Named): (readonly [string, Html])[] {
  const { manifest_id, manifest_name, manifest_repo, manifest_path, manifest_sha } = policy
  if (manifest_id === null) return [['Written', text(isOfStop(policy) ? 'by a stop' : 'here, or by the API')]]
  return [
    ['Manifest', link(paths.policies({ manifest_id }), manifest_name ?? manifest_id)],
    ['Repository', text(manifest_repo ?? bundled)],
    ['File', text(manifest_path)],
    ...(yaml === null
      ? []
      : [
          ['Line', lineOf(yaml, manifest_sha)] as const,
          ['Assignment', assignmentLink(yaml.assignment)] as const,
          ['Commit', commitOf({ ...yaml.assignment, commit_sha: yaml.commit_sha })] as const,
        ]),
    ['Blob SHA', hash(manifest_sha)],
    ['Assigned', time(policy.manifest_assigned_at)],
    ['By', assignerOf(policy, nameOf)],
  ]
}

function assignmentLink({ id: assignment_id, manifest_name, agent_name, agent_key }: Assignment): Html {
  const agent = agentName({ name: agent_name, agent_key })
  return link(paths.assignment(assignment_id), `${manifest_name} on ${agent}`)
}

/** The operator is who has the operator token, which commands and the API use and the dashboard does not. */
function assignerOf({ manifest_assigned_by: by }: Policy, nameOf: Named): Html {
  return by === 'local' ? text('the operator (command line or API)') : nameOf(by)
}

/** The line in the text of the manifest. */
function lineOf({ assignment, line, href }: ManifestSource, sha: string | null): Html {
  const own = link(`${paths.assignment_source(assignment.id, { sha })}#L${line}`, line)
  return href === null ? own : joined([own, outside(href, 'at GitHub')], ' · ')
}

/** The buttons that the API allows the person, and the policy. */
function actsOf({ api: { may } }: Visit, policy: Policy) {
  if (!may('post', api`/api/v1/policies/${policy.id}/enable`) || policy.deleted_at != null || isOfStop(policy))
    return []
  return [
    policy.enabled ? { name: 'disable', label: 'Disable' } : { name: 'enable', label: 'Enable' },
    policy.mode === 'enforce' ? { name: 'observe', label: 'Only observe' } : { name: 'enforce', label: 'Enforce' },
  ]
}

function linksOf({ api: { may } }: Visit, policy: Policy) {
  const edit = paths.edit_policy(policy.id)
  if (policy.deleted_at != null || isOfStop(policy) || !may('patch', api`/api/v1/policies/${policy.id}`)) return []
  // A change is made in the manifest; its effect can be tried here.
  if (policy.manifest_id !== null) return [{ href: edit, label: 'Try a change' }]
  return [
    { href: edit, label: 'Edit' },
    { href: paths.delete_policy(policy.id), label: 'Delete' },
  ]
}

const switched =
  (move: 'enable' | 'disable'): Act =>
  async (visit) => {
    await visit.api.change('policy', 'post', `${policyPath(visit)}/${move}`)
    return visit.path
  }

const moded =
  (mode: Policy['mode']): Act =>
  async (visit) => {
    await visit.api.change('policy', 'patch', policyPath(visit), { mode })
    return visit.path
  }

export const policyPage: DashboardPage = {
  path: '/policies/:id',
  show,
  acts: {
    enable: switched('enable'),
    disable: switched('disable'),
    observe: moded('observe'),
    enforce: moded('enforce'),
  },
}

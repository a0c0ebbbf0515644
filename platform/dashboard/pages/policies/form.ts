// The forms that write and edit a policy: drawn from the schema of its rule, and tried on recorded tasks before it is saved.
import { type DryRunReport, type Policy, type Rule, stepWords } from '@svc/schemas'
import { invalid, PlatformError } from '../../../errors.js'
import { type Agents, agentsOf } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { paths } from '../../paths.js'
import { type FormField, fieldView } from '../../views/fields.js'
import { type Html, json, nothing, piece, ticked } from '../../views/html.js'
import { type Act, type Fields, field, type Shown, type Visit } from '../../visit.js'
import { chooseView, isForPolicies } from './choose.js'
import { bodyOf, initialTexts, ownFields } from './fields.js'
import { labelOf, type Parameter, parametersOf } from './parameters.js'
import { policyPath } from './policy.js'
import { trialView, triedName } from './trial.js'
import { isOfStop } from './words.js'

interface Drawn {
  readonly rule: Rule
  readonly parameters: readonly Parameter[]
  /** The policy that is edited; null for a new one. */
  readonly policy: Policy | null
  readonly agents: Agents
}

async function rulesOf({ api: { read } }: Visit): Promise<readonly Rule[]> {
  return (await read('rule-list', '/api/v1/policies/rules')).rules
}

async function showNew(visit: Visit): Promise<Shown> {
  const rules = await rulesOf(visit)
  if (visit.query.rule_type === undefined)
    return { title: 'Write a policy', place: 'policies', content: chooseView(rules, visit.query).toHTML() }
  return formShown(visit, await drawnNew(visit, rules))
}

async function drawnNew(visit: Visit, rules: readonly Rule[]): Promise<Drawn> {
  const rule = rules.find(({ name }) => name === visit.query.rule_type)
  if (rule === undefined || !isForPolicies(rule))
    throw new PlatformError('NOT_FOUND', 'there is no form for this rule: choose one on the page that writes a policy')
  return { rule, parameters: parametersOf(rule), policy: null, agents: await agentsOf(visit) }
}

async function drawnEdit(visit: Visit): Promise<Drawn> {
  const [policy, rules] = await Promise.all([visit.api.read('policy', policyPath(visit)), rulesOf(visit)])
  const rule = rules.find(({ name }) => name === policy.rule_type)
  if (rule === undefined) throw new PlatformError('NOT_FOUND', 'this release does not have the rule of the policy')
  return { rule, parameters: parametersOf(rule), policy, agents: await agentsOf(visit) }
}

function drawn(visit: Visit): Promise<Drawn> {
  return visit.params.id === undefined ? rulesOf(visit).then((rules) => drawnNew(visit, rules)) : drawnEdit(visit)
}

function formShown(visit: Visit, { rule, parameters, policy, agents }: Drawn, trial: Html = nothing): Shown {
  const { main, target, more } = ownFields(rule, agents)
  const initial = initialTexts(policy, rule, parameters, visit.query)
  const isTyped = Object.keys(visit.form).length > 0
  const typed = isTyped ? visit.form : initial
  const draw = (fields: readonly FormField[]) =>
    fields.map((one) => fieldView(one, typed[one.name] ?? [], visit.errors))
  const isOpen = (fields: readonly FormField[]) =>
    fields.some(({ name }) => field(typed, name) !== '' || visit.errors.some(({ path }) => path.startsWith(name)))
  const of = (is_target: boolean) => parameters.filter((one) => one.is_target === is_target).map((one) => one.field)
  const version = isTyped ? field(visit.form, 'version') : String(policy?.version ?? '')
  const content = view({
    trial,
    rule_name: rule.name,
    rule_label: labelOf(rule.name),
    doc: ticked(rule.doc),
    example: json(rule.example),
    choose: policy === null ? paths.new_policy({ ...visit.query, rule_type: undefined }) : '',
    parameters: draw(of(false)),
    steps: draw(of(true)),
    steps_open: isOpen(of(true)),
    main: draw(main),
    target: draw(target),
    more: draw(more),
    more_open: isOpen(more),
    counts: [50, 200, 1000].map((count) => ({ count, on: field(visit.form, 'tasks') === String(count) })),
    why_not: whyNotSaved(visit, policy),
    version,
    changed: policy !== null && version !== String(policy.version) ? visit.path : '',
    back: policy === null ? paths.policies() : paths.policy(policy.id),
    save: policy === null ? 'Save the policy' : 'Save the changes',
    disabled: policy?.enabled === false,
    csrf: visit.csrf,
    words: stepTypes,
  })
  const title = policy === null ? 'Write a policy' : `Edit: ${policy.name}`
  return { title, place: 'policies', content: content.toHTML() }
}

/** The reason why the form cannot be saved; '' if it can. */
function whyNotSaved({ api: { may }, params }: Visit, policy: Policy | null): string {
  const isAllowed = policy === null ? may('post', '/api/v1/policies') : may('patch', policyPath({ params }))
  if (!isAllowed) return 'Your role can try a policy, and cannot save it.'
  if (policy === null) return ''
  if (policy.deleted_at != null) return 'The policy is deleted: it can be tried, and not saved.'
  if (isOfStop(policy)) return 'The policy is part of a stop: only the stop changes it.'
  return policy.manifest_id === null
    ? ''
    : `The policy comes from the manifest ${policy.manifest_name}: changes can be tried here, and are made in the file ${policy.manifest_path}.`
}

const view =
  piece(`{{trial}}{{#if changed}}<div class="alert alert-warning">The policy was changed after this form was opened. <a href="{{changed}}">Open it as it is now</a>; what is typed here is then lost.</div>
{{/if}}<form method="post"><input type="hidden" name="csrf" value="{{csrf}}"><input type="hidden" name="version" value="{{version}}">
<datalist id="step-types">{{#each words}}<option value="{{this}}"></option>{{/each}}</datalist>
<div class="row"><div class="col-lg-8">
<section class="card"><div class="card-header"><h2 class="card-title">{{rule_label}}</h2></div><div class="card-body">
<p class="fs-3">{{doc}}</p>{{#each parameters}}{{this}}{{/each}}
{{#if steps}}<details{{#if steps_open}} open{{/if}}><summary class="mb-2">Apply it to certain steps only</summary>{{#each steps}}{{this}}{{/each}}</details>{{/if}}</div></section>
<section class="card"><div class="card-header"><h2 class="card-title">Policy</h2></div><div class="card-body">{{#each main}}{{this}}{{/each}}
<details{{#if more_open}} open{{/if}}><summary class="mb-2">Controls and approval</summary>{{#each more}}{{this}}{{/each}}</details></div></section>
</div><div class="col-lg-4">
<section class="card"><div class="card-header"><h2 class="card-title">Agents</h2></div><div class="card-body">{{#each target}}{{this}}{{/each}}</div></section>
<section class="card"><div class="card-header"><h2 class="card-title">Try it first</h2></div><div class="card-body">
<p>The latest recorded tasks are evaluated again with this policy. Nothing is saved.</p>
<label class="form-label" for="tasks">Number of tasks</label><select class="form-select mb-3" id="tasks" name="tasks">{{#each counts}}<option value="{{count}}"{{#if on}} selected{{/if}}>{{count}}</option>{{/each}}</select>
<button class="btn" name="act" value="try">Try on recorded tasks</button></div></section>
<section class="card"><div class="card-body">{{#if why_not}}<p class="mb-0"><bdi>{{why_not}}</bdi></p>{{else}}<p>{{#if disabled}}The policy is disabled, and stays so.{{else}}The saved policy is in force at once.{{/if}}</p>
<div class="btn-list"><button class="btn btn-primary" name="act" value="save">{{save}}</button><a class="btn" href="{{back}}">Cancel</a></div>{{/if}}</div></section>
<details class="card"><summary class="card-body">Example of the parameters</summary><div class="card-body pt-0"><p>Rule <code>{{rule_name}}</code></p>{{example}}{{#if choose}}<p class="mb-0"><a href="{{choose}}">Choose another rule</a></p>{{/if}}</div></details>
</div></div></form>
`)

const stepTypes = stepWords.map(({ step_type }) => step_type)

/** Evaluates recorded tasks with the policy of the form. Nothing is stored. */
const attempt: Act = async (visit, form) => {
  const at = await drawn(visit)
  const { rule, parameters, policy, agents } = at
  const given = bodyOf(rule.name, parameters, form)
  // Tasks of the earlier agent of the policy change too.
  const agent_id = policy === null || policy.agent_id === given.agent_id ? given.agent_id : null
  const report = await asOwnFields(
    visit.api.change('dry-run-report', 'post', '/api/v1/policies/dry-run', {
      policy: { ...given, name: triedName, enabled: true },
      in_place_of: policy?.id ?? null,
      tasks: tasksIn(form),
      ...(agent_id !== null && { agent_id }),
    }),
  )
  return formShown(visit, at, trialView(report, { agents, policy }))
}

function tasksIn(form: Fields): number | string {
  const text = field(form, 'tasks') || '50'
  return /^\d{1,5}$/.test(text) ? Number(text) : text
}

/** Errors of `policy.params` as those of the field `params`. */
async function asOwnFields(trial: Promise<DryRunReport>): Promise<DryRunReport> {
  return trial.catch((error: unknown) => {
    if (!(error instanceof PlatformError) || error.code !== 'INVALID') throw error
    throw invalid(error.errors.map((one) => ({ ...one, path: one.path.replace(/^policy\./, '') })))
  })
}

const saveNew: Act = async (visit, form) => {
  const { rule, parameters } = await drawn(visit)
  const body = bodyOf(rule.name, parameters, form)
  return saved(await visit.api.change('policy', 'post', '/api/v1/policies', body))
}

const saveEdit: Act = async (visit, form) => {
  const { rule, parameters } = await drawn(visit)
  const body = bodyOf(rule.name, parameters, form)
  const headers = { 'if-match': `"${field(form, 'version')}"` }
  return saved(
    await visit.api.change('policy', 'patch', policyPath(visit), { ...body, name: body.name ?? '' }, headers),
  )
}

/** The page of the policy, after the warnings about it. */
function saved({ id, name, warnings = [] }: Policy): string | Shown {
  if (warnings.length === 0) return paths.policy(id)
  const content = savedView({
    warnings: warnings.map(({ path, message }) => ({ path, text: ticked(message) })),
    href: paths.policy(id),
    edit: paths.edit_policy(id),
  })
  return { title: `Saved: ${name}`, place: 'policies', content: content.toHTML() }
}

const savedView =
  piece(`<div class="alert alert-warning"><div><h2 class="alert-title">The policy is saved, with warnings</h2>
<ul class="mb-0">{{#each warnings}}<li><code><bdi>{{path}}</bdi></code> <bdi>{{text}}</bdi></li>{{/each}}</ul></div></div>
<p class="btn-list"><a class="btn btn-primary" href="{{edit}}">Edit it</a><a class="btn" href="{{href}}">Keep it</a></p>
`)

export const newPolicyPage: DashboardPage = {
  path: '/policies/new',
  show: showNew,
  acts: { try: attempt, save: saveNew },
}

export const editPolicyPage: DashboardPage = {
  path: '/policies/:id/edit',
  show: async (visit) => formShown(visit, await drawnEdit(visit)),
  acts: { try: attempt, save: saveEdit },
}

// A workspace with one of everything that pages show.
import { actionDigest } from '@svc/proof'
import type { ApiKeyList, IncidentList, Policy, Problem, Step, Stop } from '@svc/schemas'
import type { ManifestsInGit } from '../git/manifests-in-git.js'
import { deliveriesOf, makeAction } from '../http/actions.js'
import { reportIn, requestedReport } from '../reports/reports.js'
import type { Ids, PageSite } from './site.js'

/** A word of every text of the workspace, which no page has by itself. */
export const mark = 'quagga'

const rule = { rule_type: 'field_not_empty', scope: 'step_execution', severity: 'high' }
const amount = { field: 'input.amount', target_step_names: ['refund'] }

/** Fills the workspace of the operator. `n` makes names differ from those of another call. */
export async function fillWorkspace({ git, member }: PageSite, n = 1): Promise<Ids> {
  const { platform } = git
  const call = async <T>(method: string, path: string, body?: unknown, as = 'operator'): Promise<T> => {
    const answer = await platform.call<T & Problem>(method, path, { as, ...(body !== undefined && { body }) })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const post = <T>(path: string, body: unknown, as?: string) => call<T>('POST', path, body, as)
  const agent_key = `${mark}-desk-${n}`
  const facts = { name: `Desk of ${mark} ${n}`, owner_id: `${mark}@example.org`, purpose: `pays the ${mark}` }
  const tools = { declared_tools: ['refund', `look at the ${mark}`], environment: 'production' }
  const { agent_id } = await git.register({ agent_key, ...facts, ...tools })
  const idle = await git.register({ agent_key: `${mark}-idle-${n}`, risk_classification: 'high' })
  await call('PATCH', `/api/v1/agents/${idle.agent_id}`, { risk_classification: 'limited' })
  await beat(post, agent_key)
  const manifest = { name: `Manifest of ${mark} ${n}`, version: '1', policies: [policyOf(n, 'medium')] }
  const repo = await git.connect({ 'refunds.yaml': JSON.stringify(manifest), 'broken.yaml': 'name: x\npolicies: 3\n' })
  const { id: assignment } = (await git.assign(agent_id, repo.id)).body
  const policy = await post<Policy>('/api/v1/policies', {
    ...rule,
    name: `Refunds of ${mark} ${n} have an amount`,
    description: `protects the ${mark}`,
    params: amount,
  })
  const { action } = await makeAction(platform, {
    name: `Tell ${mark} ${n}`,
    config: { url: 'https://receiver.example.org/hook' },
  })
  const task = `${mark}-task-${n}`
  await recordTask(post, agent_key, task, true)
  await recordTask(post, agent_key, `${mark}-quiet-${n}`, false)
  const query = `/api/v1/incidents?policy_id=${policy.id}`
  const incident = (await call<IncidentList>('GET', query)).incidents[0]?.id ?? ''
  await post(`/api/v1/incidents/${incident}/notes`, { note: `ask the ${mark}\nsecond line` })
  await loosen(git, repo, manifest, n)
  await post('/api/v1/views', { list: 'incidents', name: `View of ${mark} ${n}`, query: 'state=open' })
  await post('/api/v1/holds', { task_id: task, reason: `case of the ${mark} ${n}` })
  await post('/api/v1/erasures', { task_id: `${mark}-quiet-${n}`, legal_basis: `request of the ${mark} ${n}` })
  const stop = await post<Stop>('/api/v1/stops', { agent_id: idle.agent_id, reason: `the ${mark} is not fed` })
  await post('/auth/api-keys', { name: `Key of ${mark} ${n}` })
  const report = await reportOf(git)
  const [delivery] = await deliveriesOf(platform, action.id)
  const { id: person } = await member(`${mark}-${n}@example.org`, 'member')
  const { api_keys } = await call<ApiKeyList>('GET', '/auth/api-keys')
  return {
    '/tasks/': task,
    '/incidents/': incident,
    '/agents/': agent_id,
    '/stops/': stop.id,
    '/policies/': String(policy.id),
    '/actions/': action.id,
    '/reports/': report,
    '/deliveries/': delivery?.id ?? '',
    '/settings/members/': person,
    '/manifests/repositories/': String(repo.id),
    '/manifests/assignments/': String(assignment),
    '/settings/keys/': api_keys.find(({ name }) => name.includes(mark))?.id ?? '',
  }
}

type Post = <T>(path: string, body: unknown, as?: string) => Promise<T>

const policyOf = (n: number, severity: string) => ({
  ...rule,
  name: `Manifest wants an amount of ${mark} ${n}`,
  params: amount,
  severity,
})

async function beat(post: Post, agent_key: string): Promise<void> {
  const since = new Date(Date.now() - 60_000).toISOString()
  const state = { load_state: 'enforcing', since, policy_count: 3, version: '1.2.3' }
  await post('/api/v1/engines/heartbeat', { instance_id: agent_key, agent_key, ...state }, 'key')
}

const refund = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input: { to: mark } }

/** A gate that names the step, as the program of an agent reports it. */
function approvalOf(step: Step) {
  const guard = { check_type: 'human_approval', result: 'passed', approver: `keeper of the ${mark}` }
  return { step_type: 'step.gate', input: { action_digest: actionDigest(step) }, properties: { guard } }
}

/** A task with steps of several kinds, one of which violates policies. */
async function recordTask(post: Post, agent_key: string, task_id: string, isViolating: boolean): Promise<void> {
  const timestamp = new Date().toISOString()
  const steps = [
    { step_type: 'task.start', input: { text: `where is the ${mark}` } },
    { step_type: 'step.model', verb: 'POST', output: { text: `the ${mark} is here` }, properties: { model: 'm' } },
    ...(isViolating ? [approvalOf(refund), refund] : []),
    { step_type: 'task.end', output: { text: `found the ${mark}` } },
  ]
  for (const [index, step] of steps.entries())
    await post('/api/v1/logs', { agent_key, task_id, step: index + 1, timestamp, ...step }, 'key')
}

/** A looser version of the manifest, which is held until a person approves it. */
async function loosen(
  git: ManifestsInGit,
  { id, repository }: Awaited<ReturnType<ManifestsInGit['connect']>>,
  manifest: object,
  n: number,
): Promise<void> {
  repository.commit({ 'refunds.yaml': JSON.stringify({ ...manifest, policies: [policyOf(n, 'low')] }) })
  await git.tick(id)
}

async function reportOf({ platform }: ManifestsInGit): Promise<string> {
  const from = new Date(Date.now() - 86_400_000).toISOString()
  const { body } = await requestedReport(platform, { from, to: new Date().toISOString(), format: 'json' })
  return (await reportIn(platform, body.id, 'ready')).id
}

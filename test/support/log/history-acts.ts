// What happens in a workspace, as data, and how each act is done with the commands of the platform.
import { parseManifest } from '@svc/engine'
import { isoTime, type LogRequest } from '@svc/schemas'
import { activate } from '../../../platform/agents/commands/change-agent.js'
import { registerAgent } from '../../../platform/agents/commands/register-agent.js'
import { takeHeartbeat } from '../../../platform/agents/commands/take-heartbeat.js'
import { withTransaction } from '../../../platform/db/db.js'
import { type IncidentMove, moveIncident, noteIncident } from '../../../platform/incidents/commands/move-incident.js'
import { evaluateStep } from '../../../platform/ingest/commands/evaluate-step.js'
import { noteTraceReports } from '../../../platform/ingest/commands/note-trace-reports.js'
import { gapIn, unrecordedIn } from '../../../platform/ingest/trace-report.js'
import { recordEvents } from '../../../platform/ledger/events.js'
import { lockLog } from '../../../platform/ledger/log.js'
import { announceIn } from '../../../platform/log/publish/commands/announce-key.js'
import { rotateKeys, signingKeysIn } from '../../../platform/log/publish/signing-keys.js'
import { erase } from '../../../platform/log/retention/commands/erase.js'
import { placeHold, releaseHold } from '../../../platform/log/retention/commands/hold.js'
import { setRetention } from '../../../platform/log/retention/commands/set-retention.js'
import { putManifest } from '../../../platform/policies/commands/put-manifest.js'
import { resumeStop } from '../../../platform/policies/commands/resume-stop.js'
import { stop } from '../../../platform/policies/commands/stop.js'
import { createPolicy } from '../../../platform/policies/commands/write-policy.js'
import { readNewPolicy } from '../../../platform/policies/given/read-policy.js'
import { insertAssignment } from '../../../platform/policies/store/assignments.js'
import type { HistoryWorkspace } from './history-platform.js'

export type StepKind = 'start' | 'model' | 'pay' | 'waived' | 'secret' | 'late' | 'end' | 'blocked'
type Approval = 'given' | 'rejected' | 'missing' | 'blocked'

/** What each act needs to know. */
interface Acts {
  readonly wait: { readonly minutes: number }
  /** Without an owner, the registration violates the baseline. */
  readonly register: { readonly agent: string; readonly owned?: boolean }
  readonly assign: { readonly agent: string; readonly waives: readonly string[]; readonly waived_days: number }
  readonly write: { readonly mode: 'enforce' | 'observe' }
  /** `decided`: a local engine evaluated the steps; `days_ago`: the times that the steps claim; `again`: all are sent twice. */
  readonly task: {
    readonly agent: string
    readonly task: string
    readonly steps: readonly StepKind[]
    readonly order: readonly number[]
    readonly decided: boolean
    readonly days_ago: number
    readonly again: boolean
  }
  readonly approval: { readonly agent: string; readonly task: string; readonly outcome: Approval }
  /** Of the whole workspace without an agent. */
  readonly stop: { readonly agent: string | null }
  readonly resume: object
  readonly note: object
  readonly gap: object
  readonly release: object
  readonly prune: object
  readonly publish: object
  readonly move: { readonly move: IncidentMove }
  /** `minutes_ago`: when the run began. */
  readonly beat: {
    readonly agent: string
    readonly run: string
    readonly ended: boolean
    readonly minutes_ago?: number
  }
  readonly unrecorded: { readonly agent: string; readonly outcome: 'allow' | 'block' }
  readonly hold: { readonly task: string }
  readonly erase: { readonly task: string }
  readonly retention: { readonly days: number }
  readonly rotate: { readonly days: number }
  readonly active: { readonly agent: string; readonly active: boolean }
}

type ActOf<K extends keyof Acts> = { readonly act: K } & Acts[K]
export type Act = { [K in keyof Acts]: ActOf<K> }[keyof Acts]

const minute = 60_000
const day = 24 * 60 * minute

/** Does the act. Rejects with a PlatformError where the platform refuses it. */
export async function play(workspace: HistoryWorkspace, act: Act): Promise<void> {
  const player = players[act.act] as (workspace: HistoryWorkspace, act: Act) => Promise<unknown>
  await player(workspace, act)
}

type Players = { readonly [K in keyof Acts]: (workspace: HistoryWorkspace, act: Acts[K]) => Promise<unknown> }

const players: Players = {
  wait: async ({ wait }, { minutes }) => wait(minutes * minute),
  register: (workspace, { agent, owned = false }) => {
    const owner = owned ? { owner_id: 'mia', purpose: 'answers mails' } : {}
    return registerAgent(workspace, workspace.scope, workspace.key, {
      agent_key: agent,
      name: `The ${agent}`,
      ...owner,
    })
  },
  assign,
  write: (workspace, { mode }) => createPolicy(workspace, workspace.scope, readNewPolicy({ ...written, mode })),
  task: logTask,
  approval: askForApproval,
  stop: async (workspace, { agent }) => {
    const target = agent === null ? { workspace: true } : { agent_id: await idOf(workspace, agent) }
    return stop(workspace, workspace.scope, { ...target, reason: 'a drill' })
  },
  resume: async (workspace) => {
    const id = await one(workspace, `select id from stops where org_id = $1 and state <> 'resumed' order by id limit 1`)
    return resumeStop(workspace, workspace.scope, id, {})
  },
  note: async (workspace) => noteIncident(workspace, workspace.scope, await anIncident(workspace), 'seen'),
  move: async (workspace, { move }) => moveIncident(workspace, workspace.scope, await anIncident(workspace), move, 'x'),
  gap: (workspace) => report(workspace, 'desk', gapIn({ ...numbered(workspace), ...lost(workspace) })),
  unrecorded: (workspace, { agent, outcome }) => {
    const decided = { task_id: 'unrecorded', evaluation_id: `eval_${workspace.clock()}`, outcome }
    const intended = { step_type: 'step.exec', step_name: 'shell' }
    return report(
      workspace,
      agent,
      unrecordedIn({ ...decided, decided_at: isoTime(workspace.clock()), intended }, agent),
    )
  },
  beat: ({ clock, ...workspace }, { agent, run, ended, minutes_ago = 0 }) => {
    const state = {
      instance_id: run,
      agent_key: agent,
      load_state: 'enforcing',
      policy_count: 3,
      version: '1.0.0',
    } as const
    const since = isoTime(clock() - minutes_ago * minute)
    return takeHeartbeat({ ...workspace, clock }, workspace.scope, workspace.key, { ...state, since, ended })
  },
  hold: (workspace, { task }) => placeHold(workspace, workspace.scope, { task_id: task, reason: 'an audit' }),
  release: async (workspace) => {
    const id = await one(
      workspace,
      'select id from holds where org_id = $1 and released_at is null order by id limit 1',
    )
    return releaseHold(workspace, workspace.scope, id)
  },
  erase: async (workspace, { task }) => {
    await erase(workspace, workspace.scope, { task_id: task, legal_basis: 'Art. 17 GDPR' })
    await workspace.publish()
  },
  retention: (workspace, { days }) => setRetention(workspace, workspace.scope, days),
  prune: async (workspace) => {
    await workspace.publish()
    await workspace.retention.prune(workspace.scope)
    await workspace.publish()
  },
  publish: (workspace) => workspace.publish(),
  rotate,
  active: async (workspace, { agent, active }) =>
    activate(workspace, workspace.scope, await idOf(workspace, agent), active),
}

/** Every `step.exec` violates it. */
const written = {
  name: 'No commands',
  rule_type: 'execution_max_steps',
  params: { step_type: 'step.exec', max_steps: 0 },
  scope: 'step_execution',
  severity: 'medium',
}

const named = { scope: 'step_execution', rule_type: 'field_in_list' } as const
const policies = [
  {
    name: 'Known receivers',
    params: { field: 'input.to', values: ['a'], target_step_names: ['waived'] },
    severity: 'critical',
  },
  {
    name: 'No secrets',
    params: { field: 'input.to', values: ['a'], target_step_names: ['secret'] },
    severity: 'low',
    mode: 'observe',
  },
  {
    name: 'Payments are approved',
    params: { field: 'input.to', values: ['a'], target_step_names: ['pay'] },
    severity: 'critical',
    approval: { check_type: 'human' },
  },
].map((policy) => ({ ...named, ...policy, controls: ['ASI02'] }))

async function assign(
  { db, scope, clock, query }: HistoryWorkspace,
  { agent: agent_key, waives, waived_days }: Acts['assign'],
): Promise<void> {
  const expires = isoTime(clock() + waived_days * day).slice(0, 10)
  const given = { agent_key, reason: 'a migration', approved_by: 'mia@example.org', expires }
  const waivers = waives.map((policy) => ({ policy, ...given }))
  const text = JSON.stringify({ name: 'Desk', version: '1.0.0', policies, ...(waives.length > 0 && { waivers }) })
  const { value, errors } = parseManifest(text, 'desk.yaml')
  if (value === null) throw new Error(JSON.stringify(errors))
  const [agent] = await query<{ agent_id: string }>(
    'select agent_id from agents where org_id = $1 and agent_key = $2',
    [scope.org_id, agent_key],
  )
  const agent_id = agent?.agent_id ?? ''
  const now = clock()
  await withTransaction(db, scope, async (tx) => {
    const { size: log_index } = await lockLog(scope, tx)
    const id = await insertAssignment(scope, tx, now, {
      agent_id,
      repo_id: null,
      manifest_path: `${now}.yaml`,
      pin: null,
    })
    const version = {
      ...{ file: { path: 'desk.yaml', blob_sha: `${now}`.padStart(40, '0'), text }, manifest: value, source: 'file' },
      ...{ commit_sha: null, ref: null },
    }
    const target = { agent_id, agent_key, effective_risk_classification: 'unclassified' as const }
    await putManifest(
      scope,
      tx,
      { now, log_index },
      { id, assigned_at: isoTime(now), assigned_by: 'test' },
      target,
      version,
    )
    const event = { kind: 'assignment.created', subject_kind: 'assignment', subject_id: String(id), data: {} }
    await recordEvents(scope, tx, now, [event])
  })
}

const types: Readonly<Record<StepKind, string>> = {
  start: 'task.start',
  model: 'step.model',
  pay: 'step.resource',
  waived: 'step.resource',
  secret: 'step.message',
  late: 'step.exec',
  end: 'task.end',
  blocked: 'task.error',
}

async function logTask(workspace: HistoryWorkspace, act: Acts['task']): Promise<void> {
  const { agent, task, steps, order, decided, days_ago, again } = act
  const at = workspace.clock() - days_ago * day
  const all = steps.map((kind, index): LogRequest => {
    const step = index + 1
    const timestamp = isoTime(at + step * 1000)
    // The engine evaluates some steps only when they are recorded.
    const late = kind === 'late' && { 'svc.late': true }
    const meta = decided
      ? { meta: { 'svc.eval': { action: 'allow', evaluation_id: `eval_${task}_${step}` }, ...late } }
      : {}
    const blocked = kind === 'blocked' ? { output: { status: 'blocked' } } : {}
    const ofStep = { step_name: kind, input: { to: 'b', text: `"svc.eval":${index}` }, ...meta, ...blocked }
    return { task_id: task, agent_key: agent, step, step_type: types[kind], timestamp, ...ofStep }
  })
  const sent = order.flatMap((index) => all[index] ?? [])
  await submit(workspace, again ? [...sent, ...sent] : sent)
}

/** Sends the steps in one batch; what the platform refuses, it refuses alone. */
async function submit({ ingest, scope, key }: HistoryWorkspace, steps: readonly LogRequest[]): Promise<void> {
  const outcomes = await ingest.submit(scope, key, steps)
  for (const outcome of outcomes) if ('error' in outcome && outcome.error.code === 'INTERNAL') throw outcome.error
}

async function askForApproval(workspace: HistoryWorkspace, { agent, task, outcome }: Acts['approval']): Promise<void> {
  const { scope, key, clock } = workspace
  const pay = {
    step_type: 'step.resource',
    verb: 'POST',
    step_name: 'pay',
    input: { to: 'plumber', amount: 7 },
  } as const
  const parts = { ...workspace, evaluated: () => undefined }
  const context = { agent_id: await idOf(workspace, agent), task_id: task }
  const { approval_required = [] } = await evaluateStep(parts, scope, key, { intended: pay, context })
  for (const { gate } of outcome === 'missing' ? [] : approval_required) {
    const text = JSON.stringify(gate).replace(
      '"result":"passed"',
      `"result":"${outcome === 'given' ? 'passed' : 'rejected'}"`,
    )
    await submit(workspace, [{ ...JSON.parse(text), agent_key: agent }])
  }
  const blocked = outcome === 'blocked' ? { output: { status: 'blocked' } } : {}
  const [last] = await workspace.query<{ step: number }>(
    'select coalesce(max(step), 0)::int as step from log_entries where org_id = $1 and task_id = $2',
    [scope.org_id, task],
  )
  const step = (last?.step ?? 0) + 1
  await submit(workspace, [{ ...pay, ...blocked, task_id: task, agent_key: agent, step, timestamp: isoTime(clock()) }])
}

async function report(workspace: HistoryWorkspace, agent: string, noted: ReturnType<typeof gapIn>): Promise<void> {
  const agent_id = await idOf(workspace, agent)
  await noteTraceReports(workspace, workspace.scope, workspace.key, agent_id, [noted])
}

const numbered = ({ clock }: HistoryWorkspace) => ({ gap_id: `gap_${clock()}`, steps: 3, reason: 'the disk was full' })
const lost = ({ clock }: HistoryWorkspace) => ({ from: isoTime(clock()), to: isoTime(clock()) })

async function rotate({ db, clock, signer, keys, log_host, scope }: HistoryWorkspace, { days }: Acts['rotate']) {
  const now = clock()
  const previous = signingKeysIn(keys).seed
  rotateKeys(keys, now, now + days * day)
  await announceIn({ db, signer, log_host }, scope, { now, until: now + days * day, reason: 'yearly', previous })
}

const anIncident = (workspace: HistoryWorkspace) =>
  one(workspace, `select id from incidents where org_id = $1 order by state <> 'open', md5(id) limit 1`)

async function one({ query, scope }: HistoryWorkspace, text: string): Promise<string> {
  const [row] = await query<{ id: string }>(text, [scope.org_id])
  return row?.id ?? 'none'
}

async function idOf({ query, scope }: HistoryWorkspace, agent_key: string): Promise<string> {
  const values = [scope.org_id, agent_key]
  const [row] = await query<{ id: string }>(
    'select agent_id as id from agents where org_id = $1 and agent_key = $2',
    values,
  )
  return row?.id ?? 'none'
}

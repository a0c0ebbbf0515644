// A log with everything that a report shows, and the parts that make reports of it.
import { fileURLToPath } from 'node:url'
import { readConfig } from '@svc/platform'
import type { BatchAnswer, EventList, IncidentList, JsonMap, LogCheckpoint, RegisteredAgent } from '@svc/schemas'
import { expect, vi } from 'vitest'
import { type Database, openDatabase, withSnapshot, withUnscopedTransaction } from '../../../platform/db/db.js'
import { type Scope, scopeOf } from '../../../platform/db/scope.js'
import { openSigner } from '../../../platform/log/publish/signer.js'
import {
  collectReport,
  makeReport,
  type ReportOptions,
  type ReportParts,
} from '../../../platform/reports/collect/make-report.js'
import type { MadeReport, ReportPlan } from '../../../report/content/plan.js'
import type { ReportData } from '../../../report/content/report-data.js'
import { startSvc } from '../cli/svc.js'
import { approvalManifest, namedStep } from '../http/approvals.js'
import { assign } from '../http/assign.js'
import { fast } from '../log/log.js'
import { startPlatform, type TestPlatform } from '../server/platform.js'
import { sharedPostgres } from '../server/postgres.js'
import { sharedData } from '../server/shared.js'
import { soon } from '../server/soon.js'

const examples = fileURLToPath(new URL('../../../examples/runs', import.meta.url))

/** The databases on which reports are tested: a server where there are binaries, and the embedded one. */
export async function reportDatabases(): Promise<{ readonly kind: string; readonly url: () => string | null }[]> {
  const postgres = await sharedPostgres()
  const embedded = { kind: 'pglite', url: () => null }
  return postgres === null ? [embedded] : [{ kind: 'postgresql', url: postgres.freshDatabase }, embedded]
}

/** A platform that publishes checkpoints every second; `database_url` null: the embedded database. */
export function startReportPlatform(database_url: string | null): Promise<TestPlatform> {
  return startPlatform({ database_url, env: fast })
}

/** Imports the runs of `examples/`, and the 100 recorded runs where they are available. */
export async function importRecorded(platform: TestPlatform): Promise<void> {
  await importExamples(platform)
  const airline = sharedData('agent-runs/airline-service.jsonl')
  if (airline !== null) await importRuns(platform, 'chat-completions', airline)
}

/** Imports the runs of `examples/`. */
export function importExamples(platform: TestPlatform): Promise<void> {
  return importRuns(platform, 'trace', examples)
}

async function importRuns({ url, api_key }: TestPlatform, format: string, path: string): Promise<void> {
  const { stdout, stderr } = await startSvc(['import', format, path, '--to', url, '--json'], { SVC_API_KEY: api_key })
    .finished
  expect([stderr, stdout.startsWith('{')]).toEqual([expect.anything(), true])
}

/** Registers an agent; returns its id. */
export async function registerAgent(platform: TestPlatform, agent: JsonMap): Promise<string> {
  const { status, body } = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body: agent })
  expect([status, body]).toEqual([expect.any(Number), expect.objectContaining({ agent_id: expect.any(String) })])
  return body.agent_id
}

/** Logs steps of a task; the answers are in their order. */
export async function logTask(platform: TestPlatform, agent_id: string, task_id: string, steps: readonly object[]) {
  const entries = steps.map((step, index) => {
    return { task_id, agent_id, step: index + 1, timestamp: new Date().toISOString(), ...step }
  })
  const { status, body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', {
    as: 'key',
    body: { entries },
  })
  expect([status, body.results.map((one) => one.status)]).toEqual([200, entries.map(() => 201)])
  return body.results
}

/** An agent whose payments need an approval: one is approved, one is not. Use the returned platform from then on. */
export async function askForApprovals(platform: TestPlatform): Promise<TestPlatform> {
  const agent_id = await registerAgent(platform, { agent_key: 'approvals', name: 'Payments & <refunds>' })
  const assigned = await assign(platform, agent_id, approvalManifest)
  const pay = namedStep('repair')
  const context = { agent_id, task_id: 'approved' }
  const { body } = await assigned.call<{ approval_required?: { gate: JsonMap }[] }>('POST', '/api/v1/engine/evaluate', {
    as: 'key',
    body: { intended: pay, context },
  })
  for (const { gate } of body.approval_required ?? []) {
    const approver = { properties: { guard: { ...gateOf(gate), approver: 'Mia Brandt' } } }
    const { status } = await assigned.call('POST', '/api/v1/logs', { as: 'key', body: { ...gate, ...approver } })
    expect(status).toBe(201)
  }
  const step = { ...pay, ...context, step: 2, timestamp: new Date().toISOString() }
  expect((await assigned.call('POST', '/api/v1/logs', { as: 'key', body: step })).status).toBe(201)
  await logTask(assigned, agent_id, 'not approved', [namedStep('roof')])
  return assigned
}

function gateOf({ properties }: JsonMap): JsonMap {
  return (properties as { guard: JsonMap }).guard
}

/** Answers the first open incidents in each way; returns their ids. */
export async function answerIncidents(platform: TestPlatform): Promise<string[]> {
  const { body } = await platform.call<IncidentList>('GET', '/api/v1/incidents?state=open&limit=100')
  const ids = body.incidents.map(({ id }) => id)
  const moves = [['review'], ['review', 'resolve'], ['ignore'], ['resolve', 'reactivate']]
  for (const [index, own] of moves.entries())
    for (const move of own) await moveIncident(platform, ids[index] ?? '', move)
  return ids
}

export async function moveIncident(platform: TestPlatform, id: string, move: string): Promise<void> {
  const text = `${move}: <b>\`&amp;\`</b> abc`
  const body = move === 'ignore' ? { reason: text } : { note: text }
  expect([move, (await platform.call('POST', `/api/v1/incidents/${id}/${move}`, { body })).status]).toEqual([move, 200])
}

/** Names and texts that no format must take for something else. */
export const holdReason = '<a href="x">]]>&amp; __proto__ | **bold** 🙂'
export const hostile = `<a href="x">]]>&amp; __proto__ | **bold** 🙂 ${'long '.repeat(40)}`

/** Names, a hold, another retention period, a deactivated agent and an erased task. */
export async function changeWorkspace(platform: TestPlatform): Promise<string> {
  const agent_id = await registerAgent(platform, { agent_key: 'hostile', name: hostile, purpose: hostile })
  await logTask(platform, agent_id, 'to erase', [
    { step_type: 'START_NODE' },
    { step_type: 'LLM_CALL', input: { a: 1 } },
  ])
  await logTask(platform, agent_id, '__proto__', [{ step_type: 'step.exec', step_name: 'make' }])
  const hold = { task_id: '__proto__', reason: holdReason }
  expect((await platform.call('POST', '/api/v1/holds', { body: hold })).status).toBe(201)
  const erasure = { task_id: 'to erase', legal_basis: 'Art. 17 GDPR' }
  expect((await platform.call('POST', '/api/v1/erasures', { body: erasure })).status).toBe(201)
  expect((await platform.call('POST', '/api/v1/retention', { body: { retention_days: 400 } })).status).toBe(200)
  expect((await platform.call('DELETE', `/api/v1/agents/${agent_id}`)).status).toBe(200)
  return agent_id
}

/** Waits until the latest event is signed, and returns the checkpoint. */
export async function signedCheckpoint(platform: TestPlatform): Promise<LogCheckpoint> {
  const { body: events } = await platform.call<EventList>('GET', '/api/v1/events?limit=1')
  const at_least = (events.events[0]?.log_index ?? 0) + 1
  return vi.waitFor(async () => {
    const { status, body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
    expect([status, body.size >= at_least]).toEqual([200, true])
    return body
  }, soon)
}

/** The database of a platform, which is closed if it is embedded. */
export interface ReportLog {
  readonly db: Database
  readonly scope: Scope
  readonly parts: ReportParts
  readonly query: <Row = JsonMap>(text: string, values?: readonly unknown[]) => Promise<Row[]>
  readonly collect: (plan: ReportPlan, options?: ReportOptions) => Promise<ReportData>
  readonly make: (plan: ReportPlan) => Promise<MadeReport>
  /** A plan as of the last checkpoint, for the whole log unless stated otherwise. */
  readonly plan: (changes?: Partial<ReportPlan>) => Promise<ReportPlan>
}

/** Closes the platform when its log is signed, and opens its database. */
export async function openReportLog(platform: TestPlatform): Promise<ReportLog> {
  await signedCheckpoint(platform)
  await platform.close()
  const config = readConfig(platform.env).value
  const db = await openDatabase(config)
  const [org] = await withUnscopedTransaction(db, (tx) => tx.query<{ org_id: string }>('select org_id from org_log'))
  const scope = scopeOf(org?.org_id ?? '', { kind: 'system', id: 'test' })
  const signer = openSigner(config.log_key_dir, Date.now)
  const parts = { db, keysOf: (org_id: string) => signer.keysOf('log.example', org_id) }
  const query: ReportLog['query'] = (text, values) => withSnapshot(db, scope, (tx) => tx.query(text, values))
  const plan: ReportLog['plan'] = async (changes = {}) => {
    const [last] = await query<{ size: number; root: string }>(
      'select size, root from checkpoints order by size desc, published_at desc limit 1',
    )
    const { size = 0, root = '' } = last ?? {}
    return {
      id: `rep_${'0'.repeat(32)}`,
      format: 'json',
      period: { from: '2020-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' },
      by: 'received',
      agent_ids: null,
      cut_off: size,
      root,
      ...changes,
    }
  }
  const collect: ReportLog['collect'] = (one, options) => collectReport(parts, scope, one, options)
  return { db, scope, parts, query, plan, collect, make: (one) => makeReport(parts, scope, one) }
}

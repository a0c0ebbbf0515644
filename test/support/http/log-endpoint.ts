// A server with the two endpoints of an import, which fails as a test specifies. It checks requests against the published schemas
// and stores them; it has no policies and no chains.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChecker } from '@svc/engine/parts'
import { parseStrictJson } from '@svc/proof'
import { type BatchResult, documents, type LogRequest } from '@svc/schemas'

/** A failure of a request; `drop` processes the request and then closes the connection. */
type Fault = { status: number; headers?: Record<string, string>; detail?: string } | 'drop'

export interface Request {
  /** From 0, counted separately for batches and registrations. */
  readonly number: number
  readonly at: number
  readonly entries: readonly LogRequest[]
}

export interface Script {
  /** Called when a batch arrives; a promise delays its answer. */
  readonly batch?: (request: Request) => Fault | undefined | Promise<Fault | undefined>
  readonly agent?: (number: number) => Fault | undefined
  /** The result of an entry that would be stored. */
  readonly entry?: (entry: LogRequest, batch: number) => BatchResult | undefined
  /** Names of the policies that an entry violates. */
  readonly violated?: (entry: LogRequest) => readonly string[]
}

export interface LogEndpoint {
  readonly url: string
  readonly batches: readonly Request[]
  readonly agents: readonly Record<string, unknown>[]
  /** Requests that a correct client never sends. */
  readonly complaints: readonly string[]
  /** The entries that were stored, by task in the order of arrival. */
  readonly stored: ReadonlyMap<string, readonly LogRequest[]>
  /** Largest number of concurrent batches. */
  readonly max_concurrent: () => number
  readonly close: () => Promise<void>
}

export const api_key = 'SvcKey-test'

export async function startLogEndpoint(script: Script = {}): Promise<LogEndpoint> {
  const check = createChecker(Object.values(documents))
  const batches: Request[] = []
  const agents: Record<string, unknown>[] = []
  const complaints: string[] = []
  const stored = new Map<string, LogRequest[]>()
  const concurrency = countConcurrency(complaints)

  const expectValid = (name: string, value: unknown) => {
    for (const { path, message } of check(`${name}.json`)(value))
      complaints.push(`${name} ${path.join('.')} ${message}`)
  }

  const store = (entry: LogRequest, batch: number): BatchResult => {
    expectValid('log-request', entry)
    const rejected = script.entry?.(entry, batch)
    if (rejected !== undefined) return rejected
    const task = stored.get(entry.task_id) ?? []
    stored.set(entry.task_id, task)
    const earlier = task.findIndex(({ step }) => step === entry.step)
    if (earlier < 0) task.push(entry)
    else if (JSON.stringify(task[earlier]) !== JSON.stringify(entry)) return { status: 409, problem: problem(409) }
    const violations = (script.violated?.(entry) ?? []).map(violation)
    return { status: earlier < 0 ? 201 : 200, replayed: earlier >= 0, entry: { ...logged(entry), violations } }
  }

  const takeBatch = async (body: unknown, response: ServerResponse) => {
    expectValid('batch-request', body)
    const { entries } = body as { entries: LogRequest[] }
    const request = { number: batches.length, at: performance.now(), entries }
    batches.push(request)
    if (entries.length > 200) complaints.push(`a batch of ${entries.length}`)
    const free = concurrency.begin(entries)
    // A client that died has no batch in progress.
    response.once('close', free)
    const fault = await script.batch?.(request)
    const results = fault === undefined || fault === 'drop' ? entries.map((entry) => store(entry, request.number)) : []
    free()
    if (fault === undefined) expectValid('batch-answer', { results })
    answer(response, fault, { results })
  }

  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(204).end()
      return
    }
    readJson(request, complaints).then(async (body) => {
      if (request.url === '/api/v1/logs/batch') return takeBatch(body, response)
      if (request.url !== '/api/v1/agents') return answer(response, { status: 404 }, null)
      expectValid('agent-registration', body)
      agents.push(body as Record<string, unknown>)
      return answer(response, script.agent?.(agents.length - 1), { agent_id: 'ag_1', registration_status: 'created' })
    })
  })
  const url = await listen(server)
  return { url, batches, agents, complaints, stored, max_concurrent: concurrency.max, close: () => close(server) }
}

/** Reads the body of a request; null for invalid JSON. */
async function readJson(request: IncomingMessage, complaints: string[]): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { method, headers } = request
  if (method !== 'POST') complaints.push(`method ${method}`)
  if (headers.authorization !== `Bearer ${api_key}`) complaints.push(`authorization ${headers.authorization}`)
  if (headers['content-type'] !== 'application/json') complaints.push(`content-type ${headers['content-type']}`)
  const reading = parseStrictJson(Buffer.concat(chunks).toString('utf8'))
  if (reading.problem !== null) complaints.push(reading.problem.message)
  return reading.problem === null ? reading.value : null
}

/** Counts the batches in progress; `begin` returns a function that ends the batch. */
function countConcurrency(complaints: string[]) {
  const busy = new Set<string>()
  let running = 0
  let max = 0
  const begin = (entries: readonly LogRequest[]) => {
    const tasks = new Set(entries.map(({ task_id }) => task_id))
    for (const task of tasks) if (busy.has(task)) complaints.push('two concurrent batches of a task')
    for (const task of tasks) busy.add(task)
    max = Math.max(max, ++running)
    let is_ended = false
    return () => {
      if (is_ended) return
      is_ended = true
      running--
      for (const task of tasks) busy.delete(task)
    }
  }
  return { begin, max: () => max }
}

function answer(response: ServerResponse, fault: Fault | undefined, body: unknown): void {
  if (fault === 'drop') {
    response.destroy()
  } else if (fault === undefined) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  } else {
    const headers = { 'content-type': 'application/problem+json', ...fault.headers }
    response.writeHead(fault.status, headers).end(JSON.stringify(problem(fault.status, fault.detail)))
  }
}

export function problem(status: number, detail = 'as scripted') {
  return { type: 'about:blank', title: 'Scripted', status, detail, code: 'SCRIPTED', request_id: 'req_1', errors: [] }
}

function logged({ task_id, step = 1 }: LogRequest) {
  const place = { seq: step, log_index: 0, received_at: '2026-01-01T00:00:00.000Z' }
  return { log_id: `log_${step}`, task_id, step, hash: '0'.repeat(64), prev_hash: '', ...place }
}

function violation(name: string) {
  const severity = name.startsWith('critical') ? ('critical' as const) : ('low' as const)
  const details = { code: 'SCRIPTED', reason: 'as scripted', rule_type: 'not', params: {}, evidence: [], remedy: null }
  const policy = { policy_id: 1, name, severity, mode: 'enforce' as const, waived: false, manifest_id: null }
  return { ...policy, message: 'This step is noted.', violation_details: details }
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

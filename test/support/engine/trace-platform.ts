// Stands in for a platform where a test must choose its answers: policies for one agent, and POST /api/v1/traces with all its rules.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChecker } from '@svc/engine/parts'
import { parseStrictJson } from '@svc/proof'
import { documents, type EffectivePolicies } from '@svc/schemas'
import { answerWith } from './changing-source.js'

type Item = Readonly<Record<string, unknown>>
export type TraceList = 'steps' | 'incidents' | 'unrecorded' | 'gaps'
type TraceBody = Readonly<Record<TraceList, readonly Item[]>>

/** The answer to a whole request: a status with the code of a problem, or without one as a proxy answers. */
export interface RejectedWith {
  readonly status: number
  readonly code?: string
  readonly detail?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface TracePlatform {
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  /** The numbers of the steps of each task, in the order of their first arrival. */
  readonly tasks: ReadonlyMap<string, readonly number[]>
  /** The steps as they arrived first, unless the platform keeps numbers only. */
  readonly steps: readonly Item[]
  readonly incidents: ReadonlyMap<string, Item>
  readonly gaps: ReadonlyMap<string, Item>
  /** What no correct sender does: steps that differ from the same ones before, and invalid requests. */
  readonly faults: readonly string[]
  /** Requests to /api/v1/traces, and items that had arrived before. */
  readonly counts: { requests: number; replayed: number; max_bytes: number }
  /** What a request gets instead; null for none. */
  reject: (body: TraceBody) => RejectedWith | null
  /** What an item gets instead; null for none. */
  rejectItem: (list: TraceList, item: Item) => RejectedWith | null
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

const checker = createChecker(Object.values(documents))
const isStep = checker('behavior.json')
const isIncident = checker('incident-report.json')
const lists = ['steps', 'incidents', 'unrecorded', 'gaps'] as const
const maxBytes = 8 * 1024 * 1024
const api_key = 'SvcKey-of-the-platform'
const agent_key = 'desk'

interface TracePlatformOptions {
  readonly policies?: EffectivePolicies
  /** Keeps no contents, for many steps. */
  readonly numbers_only?: boolean
}

export async function startTracePlatform(options: TracePlatformOptions = {}): Promise<TracePlatform> {
  const taken = store(options.numbers_only === true)
  const state = {
    ...taken.found,
    reject: (() => null) as TracePlatform['reject'],
    rejectItem: (() => null) as TracePlatform['rejectItem'],
    counts: { requests: 0, replayed: 0, max_bytes: 0 },
  }
  const policies = JSON.stringify(options.policies ?? answerWith([]))
  const traces = (request: IncomingMessage, response: ServerResponse, bytes: Buffer) => {
    state.counts.requests += 1
    state.counts.max_bytes = Math.max(state.counts.max_bytes, bytes.length)
    const found = read(request, bytes)
    if ('status' in found) {
      if (found.status !== 401) taken.found.faults.push(`${found.status}: ${found.detail}`)
      return rejectWith(response, found)
    }
    const rejection = state.reject(found)
    if (rejection !== null) return rejectWith(response, rejection)
    const results = (list: TraceList) =>
      found[list].map((item) => {
        const rejected = state.rejectItem(list, item)
        if (rejected !== null) return { status: rejected.status, problem: problemOf(rejected) }
        const replayed = taken.take(list, item)
        if (replayed) state.counts.replayed += 1
        return replayed ? { status: 200, replayed } : { status: 201 }
      })
    const [steps, incidents, unrecorded, gaps] = lists.map(results)
    const body = JSON.stringify({ results: steps, incidents, unrecorded, gaps })
    return response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url === '/api/v1/traces') return traces(request, response, Buffer.concat(chunks))
      if (request.url?.startsWith('/api/v1/policies/effective')) return response.writeHead(200).end(policies)
      if (request.url?.startsWith('/api/v1/tasks/')) return rejectWith(response, unknownTask)
      return response.writeHead(request.url === '/api/v1/engines/heartbeat' ? 200 : 404).end('{}')
    })
  }
  let server: Server
  let port = 0
  const start = async () => {
    server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
    port = (server.address() as AddressInfo).port
  }
  const stop = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  await start()
  const url = `http://127.0.0.1:${port}`
  const env = { SVC_API_URL: url, SVC_API_KEY: api_key, SVC_AGENT_KEY: agent_key }
  return Object.assign(state, { url, env, stop, start })
}

/** It gives no task back, as a platform whose retention period is over. */
const unknownTask: RejectedWith = { status: 404, code: 'NOT_FOUND', detail: 'no such task' }

/** The lists of a valid request, or the answer to another one. */
function read(request: IncomingMessage, bytes: Buffer): TraceBody | RejectedWith {
  const invalid = (detail: string, status = 422) => ({ status, code: 'INVALID', detail })
  if (request.headers.authorization !== `Bearer ${api_key}`) return { status: 401, code: 'UNAUTHENTICATED' }
  if (request.method !== 'POST') return invalid('use POST', 405)
  if (request.headers['content-type'] !== 'application/json') return invalid('not JSON', 415)
  if (bytes.length > maxBytes) return invalid(`${bytes.length} bytes`, 413)
  const parsed = parseStrictJson(bytes.toString())
  if (parsed.problem !== null) return invalid(parsed.problem.message, 400)
  const { agent_key: key, ...body } = parsed.value as Record<string, Item[] | undefined> & { agent_key?: unknown }
  if (key !== agent_key) return { status: 404, code: 'NOT_FOUND', detail: `no agent ${String(key)}` }
  const other = Object.keys(body).find((name) => !lists.includes(name as TraceList))
  if (other !== undefined) return invalid(`unknown member ${other}`)
  const { steps = [], incidents = [], unrecorded = [], gaps = [] } = body
  const found = { steps, incidents, unrecorded, gaps }
  if (lists.every((list) => found[list].length === 0)) return invalid('empty')
  if (lists.some((list) => found[list].length > 1000)) return invalid('too many')
  return found
}

function problemOf({ status, code = 'INVALID', detail = 'rejected' }: RejectedWith): Item {
  return { type: 'about:blank', title: 'rejected', status, detail, code, request_id: 'r', errors: [] }
}

function rejectWith(response: ServerResponse, rejection: RejectedWith): ServerResponse {
  const of_proxy = rejection.code === undefined
  const type = of_proxy ? 'text/html' : 'application/problem+json'
  response.writeHead(rejection.status, { 'content-type': type, ...rejection.headers })
  return response.end(of_proxy ? '<h1>proxy</h1>' : JSON.stringify(problemOf(rejection)))
}

/** The platform takes null for absent. */
function withoutNulls(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
}

/** What has arrived; `take` returns true for what had arrived before. */
function store(numbers_only: boolean) {
  const found = {
    tasks: new Map<string, number[]>(),
    steps: [] as Item[],
    incidents: new Map<string, Item>(),
    gaps: new Map<string, Item>(),
    faults: [] as string[],
  }
  const texts = new Map<string, string>()
  const known = new Map<string, Set<number>>()
  const fault = (text: string) => void found.faults.push(text)
  const takeStep = ({ kind: _kind, recorded_at: _at, ...step }: Item) => {
    const problems = isStep(step)
    if (problems.length > 0) fault(JSON.stringify(problems))
    const { task_id, step: number, timestamp } = step
    if (typeof task_id !== 'string' || typeof number !== 'number' || typeof timestamp !== 'string') {
      fault(`a step without a task, a number or a time: ${JSON.stringify(step).slice(0, 200)}`)
      return false
    }
    const numbers = found.tasks.get(task_id) ?? []
    found.tasks.set(task_id, numbers)
    const of_task = known.get(task_id) ?? new Set()
    known.set(task_id, of_task)
    const is_known = of_task.has(number)
    of_task.add(number)
    const key = `${task_id} ${number}`
    const text = numbers_only ? '' : JSON.stringify(step)
    if (is_known && texts.get(key) !== text && !numbers_only) fault(`step ${key} differs from the same one before`)
    if (is_known) return true
    numbers.push(number)
    if (!numbers_only) found.steps.push(step)
    if (!numbers_only) texts.set(key, text)
    return false
  }
  const once = (map: Map<string, Item>, key: string, item: Item) => {
    const before = map.get(key)
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(item)) fault(`${key} differs`)
    map.set(key, item)
    return before !== undefined
  }
  const take = (list: TraceList, item: Item): boolean => {
    if (list === 'steps') return takeStep(item)
    if (list === 'gaps') {
      const is_gap = typeof item.gap_id === 'string' && Number(item.steps) > 0 && item.reason === 'spool_full'
      if (!is_gap || Number.isNaN(Date.parse(`${item.from}`))) fault(`not a gap: ${JSON.stringify(item)}`)
      return once(found.gaps, String(item.gap_id), item)
    }
    const problems = list === 'incidents' ? isIncident(withoutNulls(item)) : []
    if (problems.length > 0) fault(JSON.stringify(problems))
    const { policy_id } = Object(item.violation) as { policy_id?: unknown }
    return once(found.incidents, `${list} ${item.evaluation_id} ${policy_id}`, item)
  }
  return { found, take }
}

// How soon a stop, and its resumption, reach the running tasks of local engines: real processes, one platform.

import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Evaluation, Stop } from '@svc/schemas'
import { expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../../support/server/process.js'
import { soon } from '../../support/server/soon.js'

const engines = 10
const tasksPerEngine = 100
/** Requests in progress at each engine. */
const atOnce = 4
/** Between two requests of one of them, ms: about 400 evaluations a second in all. */
const pauseMs = 100
/** A change has reached all engines when so many answers in a row agree: about two seconds of all engines. */
const agreeing = 800

const answers: { readonly at: number; readonly blocked: boolean }[] = []

it.each(['pglite', 'postgresql'])(
  'a stop and its resumption reach 1,000 tasks without waiting for the TTL, on %s',
  async (kind) => {
    const postgres = kind === 'pglite' ? null : await sharedPostgres()
    if (kind === 'postgresql' && postgres === null) return
    answers.length = 0
    const path = mkdtempSync(join(tmpdir(), 'svc-reach-'))
    const platform = await startProcess({
      SVC_DATA_DIR: path,
      SVC_PORT: '0',
      ...(postgres !== null && { SVC_DATABASE_URL: postgres.freshDatabase() }),
    })
    const serves: Serve[] = []
    const agent = new Agent({ keepAlive: true, maxSockets: 1000 })
    const running = { now: true }
    try {
      for (let n = 0; n < engines; n++) serves.push(await engineOf(platform, `agent-${n}`))
      const loops = serves.flatMap((serve, n) =>
        Array.from({ length: atOnce }, (_, worker) => keepEvaluating(agent, running, serve, n, worker)),
      )
      await agreed(false)
      expect(answers.some(({ blocked }) => blocked)).toBe(false)
      const stopped = performance.now()
      const { id } = await post<Stop>(platform, '/api/v1/stops', { workspace: true, reason: 'a measurement' })
      const stop_answered = performance.now() - stopped
      await agreed(true)
      const lastAllowed = Math.max(...answers.filter(({ blocked }) => !blocked).map(({ at }) => at)) - stopped
      const from = answers.length
      const resumed = performance.now()
      await post(platform, `/api/v1/stops/${id}/resume`, {})
      await agreed(false)
      const lastBlocked =
        Math.max(
          ...answers
            .slice(from)
            .filter(({ blocked }) => blocked)
            .map(({ at }) => at),
        ) - resumed
      running.now = false
      await Promise.all(loops)
      const figures = { kind, evaluations: answers.length, stop_answered, lastAllowed, lastBlocked }
      process.stdout.write(`${JSON.stringify(figures)}\n`)
    } finally {
      running.now = false
      for (const serve of serves) await serve.discard()
      expect(await platform.terminate()).toBe(0)
      agent.destroy()
      rmSync(path, { recursive: true, force: true })
    }
  },
)

/** Waits until all engines answer so; far less than the TTL of 300 s, so a change did not wait for that. */
function agreed(blocked: boolean): Promise<void> {
  const from = answers.length
  return vi.waitFor(() => {
    const last = answers.slice(from).slice(-agreeing)
    expect([last.length, last.every((answer) => answer.blocked === blocked)]).toEqual([agreeing, true])
  }, soon)
}

async function engineOf({ url, api_key }: PlatformProcess, agent_key: string): Promise<Serve> {
  const body = JSON.stringify({ agent_key, owner_id: 'o', purpose: 'p' })
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  expect((await fetch(`${url}/api/v1/agents`, { method: 'POST', headers, body })).status).toBe(201)
  return startServe([], {}, { SVC_API_URL: url, SVC_API_KEY: api_key, SVC_AGENT_KEY: agent_key })
}

async function post<T>({ url, operator_token }: PlatformProcess, path: string, body: object): Promise<T> {
  const headers = { authorization: `Bearer ${operator_token}`, 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(answer.status).toBeLessThan(300)
  return answer.json() as Promise<T>
}

/** Evaluates a step of one task after the other, until the end. */
async function keepEvaluating(agent: Agent, running: { now: boolean }, serve: Serve, engine: number, worker: number) {
  for (let task = worker; running.now; task = (task + atOnce) % tasksPerEngine) {
    const { blocked } = await evaluate(agent, serve, `agent-${engine}`, `task-${task}`)
    answers.push({ at: performance.now(), blocked })
    await setTimeout(pauseMs)
  }
}

function evaluate(agent: Agent, { port }: Serve, agent_id: string, task_id: string): Promise<Evaluation> {
  const context = { agent_id, task_id, environment: 'development' }
  const body = JSON.stringify({ intended: { step_type: 'step.model', verb: 'POST' }, context })
  const headers = { 'content-type': 'application/json', prefer: 'return=minimal' }
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: '/evaluate', method: 'POST', headers, agent }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => resolve(JSON.parse(text) as Evaluation))
    })
    sent.on('error', reject).end(body)
  })
}

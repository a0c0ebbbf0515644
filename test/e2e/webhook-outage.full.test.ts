// Receivers of webhooks in Python (docs/actions.md) and in Node (the package `standardwebhooks`) that are killed while incidents
// come in: started again, each gets everything once per change, in order per incident, under the ids that the platform lists.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action, DeliveryList, IncidentList, MadeAction } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { soon } from '../support/server/soon.js'

const hasPython = spawnSync('python3', ['--version']).status === 0
/** Failed attempts, after which the receiver is back: the second comes 5 s after the first, the fifth 75 s. */
const attempts = Number(process.env.SVC_OUTAGE_ATTEMPTS ?? 2)

/** The receiver of the page, which also prints the id of the delivery, the incident and its state. */
const ofPage = /^cat > receiver\.py <<'END'\n([\s\S]*?)^END$/m.exec(
  readFileSync(fileURLToPath(new URL('../../docs/actions.md', import.meta.url)), 'utf8'),
)?.[1]
const python = (port: number) =>
  (ofPage ?? '')
    .replace('9000', String(port))
    .replace(
      /print\(json.*$/m,
      'sent = json.loads(body); print(json.dumps({"id": sent_id, "valid": valid, **sent}), flush=True)',
    )
const node = (port: number) => `
import { createServer } from 'node:http'
import { Webhook } from ${JSON.stringify(import.meta.resolve('standardwebhooks'))}
createServer(async (request, response) => {
  let bodyAsText = ''
  for await (const part of request) bodyAsText += part
  try {
    const sent = new Webhook(process.env.WEBHOOK_SECRET).verify(bodyAsText, request.headers)
    console.log(JSON.stringify({ id: request.headers['webhook-id'], valid: true, ...sent }))
    response.writeHead(204).end()
  } catch (error) {
    console.log(JSON.stringify({ valid: false, error: String(error) }))
    response.writeHead(401).end()
  }
}).listen(${port}, '127.0.0.1')
`

const receivers = [
  { name: 'Python', program: 'python3', file: 'receiver.py', source: python, skip: !hasPython },
  { name: 'Node with standardwebhooks', program: process.execPath, file: 'receiver.mjs', source: node, skip: false },
].filter(({ skip }) => !skip)

interface Sent {
  readonly id: string
  readonly valid: boolean
  readonly type: string
  readonly data: { readonly incident: { readonly id: string; readonly state: string } }
}

describe.each(receivers)('a receiver in $name', ({ program, file, source }) => {
  let platform: PlatformProcess
  let data_dir: string
  let port: number
  let action_id: string
  let secret: string
  let receiver: ChildProcess
  let start: () => void
  let printed = ''
  beforeAll(async () => {
    data_dir = mkdtempSync(join(tmpdir(), 'svc-webhook-outage-'))
    platform = await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: String(await freePort()) })
    port = await freePort()
    const path = join(data_dir, file)
    writeFileSync(path, source(port))
    await call('agents', platform.api_key, { agent_key: 'a', owner_id: 'o', purpose: 'p' })
    const on = ['incident.created', 'incident.changed']
    const config = { url: `http://127.0.0.1:${port}/` }
    const made = await operator<MadeAction>('actions', {
      name: 'tell',
      on,
      min_severity: 'critical',
      kind: 'webhook',
      config,
    })
    action_id = made.action.id
    secret = made.secret ?? ''
    start = () => {
      receiver = spawn(program, [path], { env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret } })
      receiver.stdout?.on('data', (chunk: Buffer) => {
        printed += chunk.toString()
      })
    }
  })
  afterAll(async () => {
    receiver.kill('SIGKILL')
    await platform.terminate()
    rmSync(data_dir, { recursive: true, force: true })
  })

  async function call<T>(path: string, token: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const options = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`${platform.url}/api/v1/${path}`, { headers, ...options })
    expect(answer.status).toBeLessThan(300)
    return (await answer.json()) as T
  }
  const operator = <T>(path: string, body?: object) => call<T>(path, platform.operator_token, body)
  const received = () =>
    printed
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Sent)
  const violate = async (task_id: string) => {
    const step = { agent_key: 'a', task_id, step: 1, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' }
    await call('logs', platform.api_key, step)
    const { incidents } = await operator<IncidentList>(`incidents?task_id=${task_id}&q=gate`)
    return incidents[0]?.id ?? ''
  }
  const moveAll = async (id: string) => {
    for (const move of ['review', 'resolve', 'reactivate', 'ignore'])
      await operator(`incidents/${id}/${move}`, { note: 'while the receiver is away' })
  }
  /** What the platform lists, oldest first. */
  const deliveries = async () => {
    const { deliveries } = await operator<DeliveryList>(`actions/${action_id}/deliveries?limit=200`)
    return deliveries.toReversed()
  }

  it('gets everything after an outage, in order per incident, under the ids that the platform lists', async () => {
    start()
    await vi.waitFor(
      async () => expect(await operator(`actions/${action_id}/test`, {})).toMatchObject({ delivered: true }),
      soon,
    )
    const ids = [await violate('before')]
    await vi.waitFor(
      () => expect(received().map(({ type }) => type)).toEqual(['action.test', 'incident.created']),
      soon,
    )

    receiver.kill('SIGKILL')
    for (let count = 0; count < 20; count++) {
      const id = await violate(`away-${count}`)
      ids.push(id)
      await moveAll(id)
    }
    await moveAll(ids[0] ?? '')
    await vi.waitFor(
      async () => expect((await operator<Action>(`actions/${action_id}`)).receiver.failures).toBe(attempts),
      soon,
    )
    const waiting = await deliveries()
    expect(waiting.map(({ state }) => state)).toEqual(['delivered', ...Array.from({ length: 104 }, () => 'pending')])

    start()
    await vi.waitFor(
      async () => expect((await deliveries()).every(({ state }) => state === 'delivered')).toBe(true),
      soon,
    )
    // The first of them is the test of the action.
    const sent = received().slice(1)
    expect(sent.every(({ valid }) => valid)).toBe(true)
    const states = ['open', 'active', 'resolved', 'active', 'ignored']
    for (const id of ids)
      expect([
        id,
        ...sent.filter(({ data }) => data.incident.id === id).map(({ data }) => data.incident.state),
      ]).toEqual([id, ...states])
    expect(new Set(sent.map(({ id }) => id))).toEqual(new Set(waiting.map(({ id }) => id)))
    expect(sent).toHaveLength(waiting.length)
  })
})

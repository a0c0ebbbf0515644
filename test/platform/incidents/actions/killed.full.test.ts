// kill -9 between the commit of an incident and its delivery: no incident without its delivery, none under two ids.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IncidentList } from '@svc/schemas'
import { describe, expect, it, vi } from 'vitest'
import { makeAction, registerAgent } from '../../../support/http/actions.js'
import { startReceiver } from '../../../support/people/receiver.js'
import type { CallOptions } from '../../../support/server/platform.js'
import { freePort, sharedPostgres } from '../../../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../../../support/server/process.js'
import { soon } from '../../../support/server/soon.js'

const postgres = await sharedPostgres()
/** SVC_CRASH_CYCLES=20 takes 90 s. */
const kills = Number(process.env.SVC_CRASH_CYCLES ?? 8)
/** More than one commit. */
const perCycle = 12

describe.each([
  { kind: 'pglite', database: () => ({}) },
  ...(postgres === null
    ? []
    : [{ kind: 'postgresql', database: () => ({ SVC_DATABASE_URL: postgres.freshDatabase() }) }]),
])('on $kind', ({ database }) => {
  it(`delivers every incident under one id in ${kills} crashes`, async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'svc-actions-'))
    const receiver = await startReceiver()
    // The receiver is slow, so that a crash finds deliveries before, in and after their attempts.
    receiver.answer((_request, response) => {
      setTimeout(() => response.writeHead(200).end(), 40)
    })
    const env = {
      SVC_DATA_DIR: data_dir,
      SVC_PORT: String(await freePort()),
      SVC_CHECKPOINT_SECONDS: '0',
      ...database(),
    }
    let platform = await startProcess(env)
    const caller = callerOf(() => platform)
    await registerAgent(caller)
    await makeAction(caller, { config: { url: receiver.url } })
    for (let cycle = 0; cycle < kills; cycle++) {
      const before = receiver.received.length
      const sent = Array.from({ length: perCycle }, (_, index) => log(platform, `task-${cycle}-${index}`))
      // Requests that the crash interrupts are rejected.
      const ended = Promise.allSettled(sent)
      if (cycle % 2 === 0) await Promise.any(sent)
      else await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(before), { ...soon, interval: 5 })
      await platform.kill9()
      await ended
      platform = await startProcess(env)
    }
    const incidents = await incidentsOf(caller)
    const delivered = () => new Set(receiver.received.map(({ body }) => body.data.incident?.id))
    await vi.waitFor(() => expect(delivered().size).toBe(incidents.length), soon)
    expect([...delivered()].sort()).toEqual([...incidents].sort())
    const pairs = new Set(receiver.received.map(({ id, body }) => `${id} ${body.data.incident?.id}`))
    expect(pairs.size).toBe(incidents.length)
    expect(incidents.length).toBeGreaterThan(kills)
    await platform.terminate()
    await receiver.stop()
    rmSync(data_dir, { recursive: true, force: true })
    const repeated = receiver.received.length - pairs.size
    console.log(`${kills} crashes, ${incidents.length} incidents, each under one id; ${repeated} sent again`)
  })
})

function callerOf(platform: () => PlatformProcess) {
  return {
    call: async <T>(method: string, path: string, { as = 'operator', body }: CallOptions = {}) => {
      const { url, api_key, operator_token } = platform()
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${as === 'key' ? api_key : operator_token}`,
          'content-type': 'application/json',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, headers: response.headers, body: (await response.json()) as T }
    },
  }
}

/** A step that violates the baseline in a task of its own. */
async function log({ url, api_key }: PlatformProcess, task_id: string): Promise<void> {
  const body = JSON.stringify({ task_id, step: 1, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' })
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/v1/logs`, { method: 'POST', headers, body })
  if (response.status !== 201) throw new Error(`answered ${response.status}`)
}

/** The ids of the incidents of tasks; a registration has been before the action. */
async function incidentsOf({ call }: ReturnType<typeof callerOf>): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await call<IncidentList>('GET', `/api/v1/incidents?limit=200${query}`)
    ids.push(...body.incidents.filter(({ task_id }) => task_id !== null).map(({ id }) => id))
    cursor = body.next_cursor
  }
  return ids
}

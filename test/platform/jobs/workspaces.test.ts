// Jobs of several workspaces: the slow hosts of one never hold up the jobs of the others.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/platform'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { defineJob } from '../../../platform/jobs/job.js'
import { gate, type JobRoom, openJobRoom } from '../../support/server/jobs.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { serverKey } from '../../support/server/process.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()
const folder = mkdtempSync(join(tmpdir(), 'svc-places-'))
let room: JobRoom
beforeAll(async () => {
  const server = postgres === null ? {} : { SVC_DATABASE_URL: postgres.freshDatabase(), SVC_ENCRYPTION_KEY: serverKey }
  room = await openJobRoom(readConfig({ SVC_DATA_DIR: folder, ...server }).value)
})
afterAll(async () => {
  await room.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Named {
  readonly org_id: string
  readonly id: number
  readonly [name: string]: string | number
}

/** A room with one kind of job; those of `org_slow` wait until `end` is called. */
async function open(name: string, concurrency: number) {
  const { passed, open: end } = gate()
  const began: string[] = []
  const ended: string[] = []
  const job = defineJob<Named>({
    name,
    concurrency,
    timeout_seconds: 600,
    run: async ({ org_id, id }) => {
      began.push(`${org_id}/${id}`)
      if (org_id === 'org_slow') await passed
      ended.push(`${org_id}/${id}`)
    },
  })
  const jobs = await room.open([job])
  const send = (org_id: string, id: number) => jobs.send(name, { org_id, id })
  return { began, ended, send, end, close: jobs.close }
}

const sent = (count: number) => Array.from({ length: count }, (_, id) => id)

describe('a workspace', () => {
  it.each([
    ['deliveries', 16, 8],
    ['readings of repositories', 8, 4],
    ['checks', 2, 1],
  ])('whose hosts do not answer has half of the places of %s', async (name, concurrency, half) => {
    const { began, ended, send, end, close } = await open(name.replaceAll(' ', '-'), concurrency)
    for (const id of sent(3 * concurrency)) await send('org_slow', id)
    await vi.waitFor(() => expect(began).toHaveLength(half), soon)
    for (const id of sent(3)) await send('org_other', id)
    await vi.waitFor(() => expect([...ended].sort()).toEqual(sent(3).map((id) => `org_other/${id}`)), soon)
    expect(began.filter((one) => one.startsWith('org_slow'))).toHaveLength(half)
    end()
    await vi.waitFor(() => expect(ended).toHaveLength(3 * concurrency + 3), soon)
    await close()
  })

  it('waits for one job of each other workspace where there is one place, as for reports', async () => {
    const { began, send, end, close } = await open('reports', 1)
    for (const id of sent(4)) await send('org_slow', id)
    for (const id of sent(2)) await send('org_b', id)
    for (const id of sent(2)) await send('org_c', id)
    end()
    const expected = [
      'org_slow/0',
      'org_b/0',
      'org_c/0',
      'org_slow/1',
      'org_b/1',
      'org_c/1',
      'org_slow/2',
      'org_slow/3',
    ]
    await vi.waitFor(() => expect(began).toEqual(expected), soon)
    await close()
  })
})

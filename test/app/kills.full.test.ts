// The platform is killed at three places, again and again, and there are two of them on one server: every delivery is handled,
// no check run stays in progress, none is made twice, and what is in force is the head.

import type { RepositoryList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redeliver } from '../github/webhooks.js'
import {
  type AppProcess,
  type Connected,
  eventually,
  openAppProcess,
  payments,
  runsOf,
} from '../support/app-process.js'
import { freePort, sharedPostgres } from '../support/postgres.js'
import { type PlatformProcess, serverKey, startProcess } from '../support/process.js'

const times = Number(process.env.SVC_KILLS ?? 2)
const postgres = await sharedPostgres()
const server = () => ({ SVC_DATABASE_URL: postgres?.freshDatabase() ?? '', SVC_ENCRYPTION_KEY: serverKey })

/** Where the platform is killed: when this request reaches GitHub, or at once. */
const places = [
  { place: 'between 202 and handling', on: null },
  { place: 'after the check run was made', on: /GET .*\/git\/trees\// },
  { place: 'before the check run is completed', on: /PATCH .*\/check-runs\// },
] as const

describe.each([
  { kind: 'pglite', more: () => ({}) },
  ...(postgres === null ? [] : [{ kind: 'postgresql', more: server }]),
])('a platform on $kind that is killed', ({ kind, more }) => {
  let app: AppProcess
  let policies: Connected
  beforeAll(async () => {
    app = await openAppProcess([], more())
    policies = await app.connect('acme', { 'a.yaml': payments(9000) })
  }, 120_000)
  afterAll(() => app?.close())

  /** Waits until the request, and lets it hang: the platform is killed before the answer. */
  const met = (on: RegExp) =>
    new Promise<void>((resolve) => {
      app.github.faults.answer = ({ method, path }) => {
        if (!on.test(`${method} ${path}`)) return null
        resolve()
        return { kind: 'hang' }
      }
    })
  const restart = async () => {
    await app.platform.kill9()
    app.github.faults.answer = () => null
    await app.start()
    return performance.now()
  }

  it.each(places)(
    '$place completes its checks after the restart',
    async ({ place, on }) => {
      const waits: number[] = []
      for (let count = 0; count < times; count += 1) {
        const branch = `${place.replaceAll(' ', '-')}-${count}`
        const hit = on === null ? null : met(on)
        const pull = app.github.openPull(policies.repository, { branch, files: { 'a.yaml': payments(100 + count) } })
        if (hit === null) await app.github.idle()
        else await hit
        const start = await restart()
        const runs = () => runsOf(app.github, pull.head_sha)
        await eventually(`${branch} is checked: ${JSON.stringify(runs())}`, () =>
          runs().some(({ status }) => status === 'completed'),
        )
        waits.push(performance.now() - start)
        expect(runs().map(({ status, conclusion }) => [status, conclusion])).toEqual([['completed', 'success']])
      }
      console.log(
        kind,
        place,
        'seconds to the result after the restart:',
        waits.map((ms) => (ms / 1000).toFixed(1)).join(' '),
      )
    },
    600_000,
  )

  it('between the merge and its report has the head in force, and reports it', async () => {
    const waits: number[] = []
    for (let count = 0; count < times; count += 1) {
      const hit = met(/(POST|PATCH) .*\/check-runs/)
      const sha = app.github.push(policies.repository, { files: { 'a.yaml': payments(8000 - count) } })
      await hit
      const start = await restart()
      const runs = () => runsOf(app.github, sha, 'svc / in force')
      await eventually(`${sha} is reported`, () => runs().some(({ status }) => status === 'completed'))
      waits.push(performance.now() - start)
      expect(runs().map(({ status }) => status)).toEqual(['completed'])
      const { repos } = await app.get<RepositoryList>('/api/v1/repos?provider=github')
      expect(repos[0]?.last_commit_sha).toBe(sha)
    }
    console.log(kind, 'report after a merge, s:', waits.map((ms) => (ms / 1000).toFixed(1)).join(' '))
    await eventually('no job is left', async () =>
      (await app.jobs()).every(({ name, waiting, active }) => !name.includes('check') || waiting + active === 0),
    )
    expect(app.github.runs.filter(({ status }) => status !== 'completed')).toEqual([])
  }, 600_000)
})

describe.skipIf(postgres === null)('two platforms on one server', () => {
  const pulls = 40
  let app: AppProcess
  let other: PlatformProcess
  beforeAll(async () => {
    app = await openAppProcess([], server())
    const port = await freePort()
    other = await startProcess({ ...app.env, SVC_PORT: String(port), SVC_DATA_DIR: `${app.env.SVC_DATA_DIR}-other` })
  }, 120_000)
  afterAll(async () => {
    await other?.kill9()
    await app?.close()
  })

  it('handle 200 deliveries once each, doubled, in another order and with some dropped', async () => {
    const { repository } = await app.connect('acme', { 'a.yaml': payments(9000) })
    const { github } = app
    const sent = github.deliveries.length
    let count = 0
    // Every seventh is lost on its way, every third is sent twice, and half of them reach the other process.
    github.faults.deliver = () => {
      count += 1
      app.app.webhook_url = `${count % 2 === 0 ? app.platform.url : other.url}/api/v1/github/webhook`
      return count % 7 === 0 ? 'drop' : count % 3 === 0 ? 'double' : 'send'
    }
    github.faults.hold = true
    const start = performance.now()
    const opened = Array.from({ length: pulls }, (_, index) =>
      github.openPull(repository, { branch: `b${index}`, files: { 'a.yaml': payments(100 + index) } }),
    )
    const old = opened.map(({ head_sha }) => head_sha)
    for (const [index, { head_branch }] of opened.entries())
      github.push(repository, { branch: head_branch, files: { 'a.yaml': payments(300 + index) } })
    for (let index = 0; index < 40; index += 1) github.push(repository, { files: { 'a.yaml': payments(8000 - index) } })
    await github.release((held) => held.toSorted((_, b) => (String(b).length % 2 === 0 ? -1 : 1)).reverse())
    await github.idle()
    github.faults.deliver = () => 'send'
    // What GitHub lists as failed is asked for, as the hourly job does.
    for (const one of github.deliveries.slice(sent).filter(({ status_code }) => status_code === 0))
      redeliver(github.world, one)
    await github.idle()
    await eventually('every head is checked', () =>
      opened.every(({ head_sha }) => runsOf(github, head_sha).some(({ status }) => status === 'completed')),
    )
    await eventually('no job is left', async () =>
      (await app.jobs()).every(
        ({ name, waiting, active }) => !/check|delivery|push/.test(name) || waiting + active === 0,
      ),
    )
    console.log(`${github.deliveries.length - sent} deliveries, ${((performance.now() - start) / 1000).toFixed(1)} s`)
    for (const { head_sha } of opened) expect(runsOf(github, head_sha).length).toBe(1)
    for (const sha of old) expect(runsOf(github, sha).length).toBeLessThanOrEqual(1)
    expect(github.runs.filter(({ status }) => status !== 'completed')).toEqual([])
    const { repos } = await app.get<RepositoryList>('/api/v1/repos?provider=github')
    expect(repos[0]?.last_commit_sha).toBe(repository.heads.get('main'))
  }, 300_000)
})

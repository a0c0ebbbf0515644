// The platform is killed at four places, again and again: every delivery is handled, no check run stays in progress, none is made
// twice, and what is in force is the head.

import type { RepositoryList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AppProcess,
  type Connected,
  eventually,
  openAppProcess,
  payments,
  runsOf,
} from '../support/server/app-process.js'
import { sharedPostgres } from '../support/server/postgres.js'
import { serverKey } from '../support/server/process.js'

const times = Number(process.env.SVC_KILLS ?? 1)
const postgres = await sharedPostgres()
const server = () => ({
  SVC_DATABASE_URL: postgres?.freshDatabase() ?? '',
  SVC_ENCRYPTION_KEY: serverKey,
  // The jobs of the killed process run again after this time.
  SVC_TAKEOVER_SECONDS: '5',
})

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
  })
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
        await eventually(
          `${branch} is checked: ${JSON.stringify(runs().map(({ status, title }) => [status, title]))}`,
          () => runs().some(({ status }) => status === 'completed'),
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

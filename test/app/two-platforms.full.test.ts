// Two platforms on one server: deliveries that are doubled, reordered and lost are handled once each, and the end state is the head.
import type { RepositoryList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redeliver } from '../github/webhooks.js'
import { type AppProcess, eventually, openAppProcess, payments, runsOf } from '../support/server/app-process.js'
import { freePort, sharedPostgres } from '../support/server/postgres.js'
import { type PlatformProcess, serverKey, startProcess } from '../support/server/process.js'

const postgres = await sharedPostgres()
const server = () => ({ SVC_DATABASE_URL: postgres?.freshDatabase() ?? '', SVC_ENCRYPTION_KEY: serverKey })

describe.skipIf(postgres === null)('two platforms on one server', () => {
  const pulls = 40
  let app: AppProcess
  let other: PlatformProcess
  beforeAll(async () => {
    app = await openAppProcess([], server())
    const port = await freePort()
    other = await startProcess({ ...app.env, SVC_PORT: String(port), SVC_DATA_DIR: `${app.env.SVC_DATA_DIR}-other` })
  })
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
    await github.release((held) => [
      ...held.filter((_, index) => index % 2 === 0).reverse(),
      ...held.filter((_, index) => index % 2 === 1),
    ])
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
  })
})

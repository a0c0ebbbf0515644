// Deliveries of the fake GitHub, and Probot as its client.
import { Webhooks } from '@octokit/webhooks'
import { Probot } from 'probot'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { call, jwtOf, type Received, startReceiver, startWithApp, tokenOf } from './client.js'

let receiver: Awaited<ReturnType<typeof startReceiver>>
let world: Awaited<ReturnType<typeof startWithApp>>
let answer: (received: Received) => number | 'hang'
beforeEach(async () => {
  answer = () => 202
  receiver = await startReceiver((received) => answer(received))
  world = await startWithApp(receiver.url)
  await world.github.idle()
  receiver.received.splice(0)
})
afterEach(async () => {
  await world.github.close()
  receiver.close()
})

const openPull = () =>
  world.github.openPull(world.repository, { branch: 'change', files: { 'a.yaml': 'a' }, author: world.ann })
const listed = async (query = '') =>
  call(world.github, jwtOf(world.github, world.app), 'GET', `/app/hook/deliveries${query}`)

describe('a delivery', () => {
  it('is signed as @octokit/webhooks verifies it', async () => {
    openPull()
    await world.github.idle()
    const webhooks = new Webhooks({ secret: 'a secret' })
    for (const { headers, body } of receiver.received) {
      expect(await webhooks.verify(body, headers['x-hub-signature-256'] ?? '')).toBe(true)
      expect(headers).toMatchObject({
        'x-github-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'x-github-hook-installation-target-id': String(world.app.id),
        'user-agent': expect.stringMatching(/^GitHub-Hookshot\//),
      })
      expect(JSON.parse(body)).toMatchObject({
        installation: { id: world.installation.id },
        repository: { id: world.repository.id, full_name: 'acme/agents' },
        sender: { login: 'ann' },
      })
    }
  })

  it('is sent for what people do', async () => {
    const { github, repository, installation, acme } = world
    const bob = github.account('bob')
    const pull = openPull()
    github.push(repository, { branch: 'change', files: { 'a.yaml': 'b' } })
    const review = github.review(pull, { by: bob, state: 'changes_requested' })
    github.dismiss(pull, review)
    github.editPull(pull, { title: 'Other' })
    github.closePull(pull)
    github.reopenPull(pull)
    github.enqueue(pull)
    github.merge(pull)
    const other = github.repository(acme, 'other')
    github.addRepositories(installation, [other])
    github.removeRepositories(installation, [other])
    github.rename(repository, 'renamed')
    github.suspend(installation)
    github.push(repository, { files: { 'z.yaml': 'unseen' } })
    github.unsuspend(installation)
    github.remove(repository)
    github.uninstall(installation)
    await github.idle()
    const sent = github.deliveries.map(({ event, action }) => (action === null ? event : `${event} ${action}`))
    expect(sent.filter((name) => name !== 'check_suite requested')).toEqual([
      'installation created',
      'push',
      'pull_request opened',
      'push',
      'pull_request synchronize',
      'pull_request_review submitted',
      'pull_request_review dismissed',
      'pull_request edited',
      'pull_request closed',
      'pull_request reopened',
      'push',
      'merge_group checks_requested',
      'pull_request closed',
      'push',
      'installation_repositories added',
      'installation_repositories removed',
      'repository renamed',
      'installation suspend',
      'installation unsuspend',
      'repository deleted',
      'installation deleted',
    ])
  })

  it('follows a repository to another account', async () => {
    const { github, repository, app, acme } = world
    const next = github.account('next', 'Organization')
    github.install(app, next)
    github.transfer(repository, next)
    await github.idle()
    expect(receiver.events().sort()).toEqual([
      ['installation', 'created'],
      ['installation_repositories', 'added'],
      ['installation_repositories', 'removed'],
      ['repository', 'transferred'],
    ])
    const body = receiver.received.map((one) => JSON.parse(one.body)).find(({ action }) => action === 'transferred')
    expect(body.changes.owner.from.organization.login).toBe(acme.login)
  })

  it('is recorded with its answer, never repeated by itself, and sent again under its GUID', async () => {
    const { github, app } = world
    answer = () => 500
    openPull()
    await github.idle()
    const count = receiver.received.length
    const { body, headers } = await listed('?per_page=1')
    expect(body).toMatchObject([{ status_code: 500, redelivery: false, event: 'pull_request', action: 'opened' }])
    expect(headers.get('link')).toMatch(/cursor=v1_\d+.*rel="next"/)
    answer = () => 200
    const path = `/app/hook/deliveries/${body[0].id}`
    expect((await call(github, jwtOf(github, app), 'POST', `${path}/attempts`)).status).toBe(202)
    await github.idle()
    expect(receiver.received.length).toBe(count + 1)
    expect((await listed('?per_page=1')).body).toMatchObject([{ guid: body[0].guid, status: 'OK', redelivery: true }])
    expect((await listed('?status=failure')).body.length).toBe(count)
    const whole = (await call(github, jwtOf(github, app), 'GET', path)).body
    expect(whole).toMatchObject({ request: { payload: { action: 'opened' } }, response: { payload: '' } })
    github.advance(4 * 86_400_000)
    expect((await listed()).body).toEqual([])
  })

  it('times out', async () => {
    world.github.faults.webhook_timeout_ms = 20
    answer = () => 'hang'
    openPull()
    await world.github.idle()
    expect((await listed('?per_page=1')).body).toMatchObject([{ status: 'timed out', status_code: 0 }])
  })

  it('is dropped, lost, doubled, held and sent in another order on demand', async () => {
    const { github, repository } = world
    const push = (content: string) => github.push(repository, { files: { 'a.yaml': content } })
    const sent = () => receiver.events().filter(([event]) => event === 'push').length
    github.faults.deliver = () => 'drop'
    push('1')
    expect((await listed('?per_page=1')).body).toMatchObject([{ status: 'failed to connect to host' }])
    github.faults.deliver = () => 'lose'
    push('2')
    await github.idle()
    expect(sent()).toBe(0)
    github.faults.deliver = () => 'double'
    push('3')
    await github.idle()
    expect(sent()).toBe(2)
    github.faults.deliver = () => 'send'
    github.faults.hold = true
    receiver.received.splice(0)
    push('4')
    push('5')
    await github.release((held) => held.reverse())
    expect(receiver.events().map(([event]) => event)).toEqual(['check_suite', 'push', 'check_suite', 'push'])
  })
})

describe('Probot', () => {
  it('creates a check run as an installation, and hears of a re-run', async () => {
    const { github, app, installation, repository } = world
    const probot = new Probot({ appId: app.id, privateKey: app.private_key, secret: 'a secret', baseUrl: github.url })
    const octokit = await probot.auth(installation.id)
    const at = { owner: 'acme', repo: 'agents' }
    const head_sha = repository.heads.get('main') ?? ''
    const made = await octokit.rest.checks.create({ ...at, name: 'svc / policies', head_sha })
    expect([made.status, github.runs.map(({ name }) => name)]).toEqual([201, ['svc / policies']])
    const repositories = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation)
    expect(repositories.map(({ name }) => name)).toEqual(['agents'])
    const heard: string[] = []
    probot.on('check_run.rerequested', ({ payload }) => {
      heard.push(payload.check_run.name)
    })
    await github.idle()
    receiver.received.splice(0)
    const [run] = github.runs
    if (run !== undefined) github.rerequestRun(run)
    await github.idle()
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received as Received[]
    await probot.webhooks.verifyAndReceive({
      id: headers['x-github-delivery'] ?? '',
      name: 'check_run',
      payload: body,
      signature: headers['x-hub-signature-256'] ?? '',
    })
    expect(heard).toEqual(['svc / policies'])
  })

  it('gets a new token after the installation revoked the former', async () => {
    const { github, installation } = world
    const token = await tokenOf(github, installation)
    github.revokeTokens()
    expect((await call(github, token, 'GET', '/repos/acme/agents')).status).toBe(401)
    expect((await call(github, await tokenOf(github, installation), 'GET', '/repos/acme/agents')).status).toBe(200)
  })
})

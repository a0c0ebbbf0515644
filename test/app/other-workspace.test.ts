// The App serves one workspace: nothing that it may read reaches another one, and nothing of another one is in its check runs.
import type {
  Repository as Connected,
  MadeApiKey,
  MadeAssignment,
  Problem,
  RegisteredAgent,
  RepositoryList,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Repository } from '../github/world.js'
import { type GithubApp, openGithubApp } from '../support/git/github-app.js'
import { refunds } from '../support/git/manifests-in-git.js'
import { type MailServer, startMailServer } from '../support/people/mail.js'
import { type SignedIn, signedIn } from '../support/people/people.js'
import { soon } from '../support/server/soon.js'

const before = refunds([{ name: 'amount' }])
const after = refunds([{ name: 'amount' }, { name: 'reason' }])

let app: GithubApp
let mails: MailServer
let stranger: SignedIn
let hidden: Repository
let open: Repository
beforeAll(async () => {
  mails = await startMailServer()
  app = await openGithubApp({ env: { SVC_SMTP_URL: mails.url } })
  const { github, owner } = app
  hidden = github.repository(owner, 'hidden', { files: { 'refunds.yaml': before } })
  open = github.repository(owner, 'open', { files: { 'refunds.yaml': before }, visibility: 'public' })
  github.install(app.app, owner)
  await app.connectedTo('acme/hidden', 'acme/open')
  stranger = await signedIn(app.platform, mails, 'stranger@example.org')
})
afterAll(async () => {
  await app.close()
  await mails.close()
})

/** How often a token of an installation was asked for. */
const tokens = () => app.github.requests.filter(({ path }) => path.endsWith('/access_tokens')).length
const reposOf = async () => (await stranger.call<RepositoryList>('GET', '/api/v1/repos?provider=github')).body.repos

describe('another workspace', () => {
  it('cannot read a private repository by the installation', async () => {
    const asked = tokens()
    for (const name of ['hidden', 'HIDDEN']) {
      const body = { owner: 'acme', name, branch: 'main' }
      const answer = await stranger.call<Problem>('POST', '/api/v1/repos', body)
      expect(answer).toMatchObject({
        status: 404,
        body: { detail: expect.stringMatching(/private|does not exist|no repository|token/) },
      })
    }
    expect(tokens()).toBe(asked)
    expect(await reposOf()).toEqual([])
  })

  it('with a connection of the same public repository gets nothing of the App, and the App nothing of it', async () => {
    const body = { owner: 'acme', name: 'open', branch: 'main' }
    const { status, body: made } = await stranger.call<Connected>('POST', '/api/v1/repos', body)
    expect([status, made]).toEqual([201, expect.anything()])
    expect(made).toMatchObject({ installation_id: null })
    const registered = { agent_key: 'zebra-agent', name: 'Zebra' }
    const key = await stranger.call<MadeApiKey>('POST', '/auth/api-keys', { name: 'x' })
    const as = key.body.key
    const agent = await app.platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as, body: registered })
    const assigned = { agent_id: agent.body.agent_id, repo_id: made.id, manifest_path: 'refunds.yaml' }
    expect((await stranger.call<MadeAssignment>('POST', '/api/v1/assignments', assigned)).status).toBe(201)
    const { github } = app
    const settings = { '.github/svc.yml': 'details: true' }
    github.push(open, { files: settings })
    const files = { 'refunds.yaml': after }
    const pull = github.openPull(open, { branch: 'change', author: github.account('mia'), files })
    const runs = () => github.runs.filter(({ suite }) => suite.repository === open)
    await vi.waitFor(
      () => expect(runs().find(({ suite }) => suite.head_sha === pull.head_sha)).toMatchObject({ status: 'completed' }),
      soon,
    )
    expect(JSON.stringify(runs().map(({ title, summary, text }) => [title, summary, text]))).not.toMatch(/zebra/i)
    expect(runs().find(({ suite }) => suite.head_sha === pull.head_sha)?.title).toContain('No agent has this manifest')
    expect(await reposOf()).toMatchObject([{ name: 'open', installation_id: null }])
    expect(JSON.stringify(await app.connected())).not.toContain(stranger.org_id)
  })

  it.each(['/api/v1/repos', '/api/v1/events', '/api/v1/assignments', '/api/v1/manifests'])(
    'sees nothing of it in %s',
    async (path) => {
      expect(JSON.stringify((await stranger.call('GET', path)).body)).not.toContain(`"${hidden.name}"`)
    },
  )
})

// A client for tests of the fake: signs JSON web tokens and calls routes.
import { createSign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FakeGithub, startFakeGithub } from './fake-github.js'
import type { App, Installation, Json } from './world.js'

export interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the answers of a public API, read member by member
  readonly body: any
  readonly headers: Headers
}

/** A JSON web token of the App; `claims` replace those that GitHub accepts. */
export function jwtOf(github: FakeGithub, app: App, claims: Json = {}, key = app.private_key, alg = 'RS256'): string {
  const now = Math.floor(github.now() / 1000)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg, typ: 'JWT' })}.${part({ iat: now - 30, exp: now + 570, iss: app.id, ...claims })}`
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`
}

export async function call(
  github: FakeGithub,
  credential: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const answer = await fetch(path.startsWith('http') ? path : `${github.url}${path}`, {
    method,
    headers: { ...headers, ...(credential === null ? {} : { authorization: `Bearer ${credential}` }) },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text), headers: answer.headers }
}

/** A new token of the installation, narrowed as `body` asks. */
export async function tokenOf(github: FakeGithub, installation: Installation, body: object = {}): Promise<string> {
  const path = `/app/installations/${installation.id}/access_tokens`
  const answer = await call(github, jwtOf(github, installation.app), 'POST', path, body)
  if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body.token
}

export const permissions = { contents: 'read', checks: 'write', pull_requests: 'read', merge_queues: 'read' } as const
export const events = ['push', 'pull_request', 'pull_request_review', 'check_run', 'check_suite', 'repository'] as const

/** An organization with an App on a private repository with one file. */
export async function startWithApp(webhook_url?: string) {
  const github = await startFakeGithub()
  const acme = github.account('acme', 'Organization')
  const ann = github.account('ann')
  const webhook = webhook_url === undefined ? {} : { webhook_url, webhook_secret: 'a secret' }
  const app = github.app({ slug: 'policies', owner: acme, permissions, events: [...events, 'merge_group'], ...webhook })
  const repository = github.repository(acme, 'agents', { files: { 'refunds.yaml': 'name: Refunds\nversion: "1"\n' } })
  const installation = github.install(app, acme, [repository])
  return { github, acme, ann, app, repository, installation }
}

export interface Received {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A receiver of webhooks; it answers with the status that `answer` returns, or never. */
export async function startReceiver(answer: (received: Received) => number | 'hang' = () => 202) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const one = { headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() }
    received.push(one)
    const status = answer(one)
    if (status !== 'hang') response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    events: () => received.map(({ headers, body }) => [headers['x-github-event'], JSON.parse(body).action ?? null]),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

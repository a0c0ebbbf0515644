// Requests about repositories and assignments that are hostile or odd, and webhooks of other workspaces.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { MadeAssignment, Problem, Repository, WebhookSecret } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type ManifestsInGit, openManifestsInGit, refunds } from '../../support/git/manifests-in-git.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { signedIn } from '../../support/people/people.js'

interface PathCase {
  readonly manifest_path: unknown
  /** The path of the assignment; the request is rejected without it. */
  readonly path?: string
  readonly status?: number
  /** What the message has instead of characters that do harm on a terminal. */
  readonly shown?: string
}
interface RequestCase {
  readonly at: string
  readonly raw?: string
  readonly status: number
}
interface Cases {
  readonly paths: readonly PathCase[]
  readonly ids: readonly string[]
  readonly requests: readonly RequestCase[]
}
const cases = parse(readFileSync(new URL('../../cases/git-requests.yaml', import.meta.url), 'utf8')) as Cases

let mails: MailServer
let git: ManifestsInGit
let known: Readonly<Record<string, string>>
beforeAll(async () => {
  mails = await startMailServer()
  git = await openManifestsInGit({ env: { SVC_SMTP_URL: mails.url } })
  const files = ['refunds.yaml', 'a/b.yaml', 'space.yaml ', 'back\\slash.yaml']
  const { id, url } = await git.connect(Object.fromEntries(files.map((name) => [name, refunds([{ name: 'one' }])])))
  const { agent_id } = await git.register()
  const { body } = await git.assign((await git.register()).agent_id, id)
  known = { repo: String(id), agent: agent_id, assignment: String(body.id), url }
})
afterAll(async () => {
  await git.close()
  await mails.close()
})

const filled = (text: string) => text.replaceAll(/\{(repo|agent|assignment|url)\}/g, (_, name) => known[name] ?? '')
const isPlain = (body: unknown) => !/[\p{Cc}\p{Cf}\p{Zl}]/u.test(String((body as Problem).detail))

describe('a path of a manifest', () => {
  it.each(cases.paths)('$manifest_path', async ({ manifest_path, path, status = 201, shown = '' }) => {
    const request = { agent_id: known.agent, repo_id: Number(known.repo), manifest_path }
    const answer = await git.platform.call<MadeAssignment>('POST', '/api/v1/assignments', { body: request })
    expect([answer.status, answer.body.manifest_path]).toEqual([status, path])
    expect(isPlain(answer.body)).toBe(true)
    if (path === undefined) expect((answer.body as unknown as Problem).detail).toContain(shown)
    else await git.platform.call('DELETE', `/api/v1/assignments/${answer.body.id}`)
  })
})

describe('a request', () => {
  it.each(cases.requests)('$at $raw', async ({ at, raw, status }) => {
    const [method = '', path = ''] = at.split(' ')
    const sent = raw === undefined ? {} : { raw: filled(raw) }
    const answer = await git.platform.call<Problem>(method, filled(path), sent)
    expect([answer.status, answer.body.detail]).toEqual([status, answer.body.detail])
    expect(isPlain(answer.body)).toBe(true)
  })

  it.each(cases.ids)('with the id %s finds nothing', async (id) => {
    const found = [
      ['GET', `/api/v1/repos/${id}`],
      ['GET', `/api/v1/repos/${id}/manifests`],
      ['POST', `/api/v1/repos/${id}/resync`],
      ['POST', `/api/v1/repos/${id}/webhook-secret`],
      ['PATCH', `/api/v1/repos/${id}`, { token: 'x' }],
      ['DELETE', `/api/v1/repos/${id}`],
      ['GET', `/api/v1/policies/${id}`],
      ['GET', `/api/v1/assignments/${id}`],
      ['PATCH', `/api/v1/assignments/${id}`, { pin: 'task' }],
      ['DELETE', `/api/v1/assignments/${id}`],
      ...['resync', 'pin', 'unpin', 'approve'].map((verb) => ['POST', `/api/v1/assignments/${id}/${verb}`, {}]),
    ] as readonly (readonly [string, string, object?])[]
    for (const [method, path, body] of found) {
      const answer = await git.platform.call(method, path, body === undefined ? {} : { body })
      expect([path, answer.status]).toEqual([path, 404])
    }
  })
})

describe('a webhook', () => {
  it('of one workspace does not reach a repository with the same id in another', async () => {
    const theirs = await signedIn(git.platform, mails, 'theirs@example.org')
    git.host.add('theirs.git').commit({ 'refunds.yaml': refunds([{ name: 'one' }]) })
    const url = `${git.host.url}/theirs.git`
    const { id } = (await theirs.call<Repository>('POST', '/api/v1/repos', { url })).body
    expect(String(id)).toBe(known.repo)
    const their = (await theirs.call<WebhookSecret>('POST', `/api/v1/repos/${id}/webhook-secret`, {})).body
    const path = `/api/v1/repos/${id}/webhook-secret`
    const own = (await git.platform.call<WebhookSecret>('POST', path, { body: {} })).body
    const post = async ({ secret }: WebhookSecret, { url }: WebhookSecret) => {
      const { pathname, search } = new URL(url)
      const digest = createHmac('sha256', secret).update('{}').digest('hex')
      const headers = { 'x-hub-signature-256': `sha256=${digest}` }
      return (await git.platform.call('POST', pathname + search, { as: null, raw: '{}', headers })).status
    }
    expect([await post(their, own), await post(own, their)]).toEqual([401, 401])
    expect([await post(own, own), await post(their, their)]).toEqual([202, 202])
    // A credential does not replace the signature.
    const { pathname, search } = new URL(own.url)
    expect((await git.platform.call('POST', pathname + search, { raw: '{}' })).status).toBe(401)
  })
})

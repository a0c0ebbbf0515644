// Assignments and their branches: two branches of one repository, and a branch that moves while it is read.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Repository } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ManifestsInGit,
  refunds as manifest,
  openManifestsInGit,
  manifestPath as path,
} from '../../support/git/manifests-in-git.js'
import { soon } from '../../support/server/soon.js'

let git: ManifestsInGit

beforeAll(async () => {
  git = await openManifestsInGit()
})
afterAll(() => git.close())

const [one, two] = [{ name: 'one' }, { name: 'two' }]

describe('a second branch of a repository', () => {
  it('does not put the same manifest on an agent again', async () => {
    const { id, repository, url } = await git.connect({ [path]: manifest([one]) })
    repository.git('branch', 'next', 'main')
    const { body: next } = await git.platform.call<Repository>('POST', '/api/v1/repos', {
      body: { url, branch: 'next' },
    })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    const again = await git.assign(agent_id, next.id)
    expect([again.status, JSON.stringify(again.body)]).toEqual([409, expect.stringContaining(`assignment ${made.id}`)])
    await git.platform.call('DELETE', `/api/v1/assignments/${made.id}`)
    expect((await git.assign(agent_id, next.id)).status).toBe(201)
  })
})

describe('an assignment that is made while the branch is read', () => {
  it('gets the head that the reading found', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one]) })
    const before = repository.git('rev-parse', 'main').trim()
    repository.commit({ [path]: manifest([one, two]) })
    const after = repository.git('rev-parse', 'main').trim()
    const { agent_id } = await git.register()
    const assigned = new Promise<number>((resolve) => {
      let requests = 0
      git.host.intercept = (request, response) => {
        if (request.method !== 'GET') return false
        requests += 1
        // The first request asks for the head; with the second one, the reading fetches what it found.
        if (requests !== 2) return false
        void (async () => {
          repository.git('update-ref', 'refs/heads/main', before)
          resolve((await git.assign(agent_id, id)).body.id)
          repository.git('update-ref', 'refs/heads/main', after)
          await passOn(request, response)
        })()
        return true
      }
    })
    await git.tick(id)
    git.host.intercept = () => false
    const assignment = await assigned
    await expect.poll(() => git.inForce(agent_id), soon).toEqual(['one', 'two'])
    expect(await git.read(assignment)).toMatchObject({ status: 'synced', conditions: [] })
  })

  /** Lets the host answer a request that was held back. */
  async function passOn({ url, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const protocol = String(headers['git-protocol'] ?? '')
    const answer = await fetch(`${git.host.url}${url}`, { headers: { 'git-protocol': protocol } })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
})

// Versions of an assigned manifest: the difference in words, and the text with the line of each policy.
import type {
  AssignmentDiff,
  AssignmentList,
  AssignmentSource,
  AssignmentVersionList,
  ManifestList,
  Problem,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webUrlOf } from '../../../platform/git/versions.js'
import {
  type ManifestsInGit,
  refunds as manifest,
  openManifestsInGit,
  manifestPath as path,
} from '../../support/git/manifests-in-git.js'

let git: ManifestsInGit

beforeAll(async () => {
  git = await openManifestsInGit()
})
afterAll(() => git.close())

const limit = (max_steps: number) => ({
  name: 'Few steps',
  rule_type: 'execution_max_steps',
  params: { step_type: 'step.model', max_steps },
  severity: 'critical',
})
const one = { name: 'one' }

const diff = (id: number, query = '') =>
  git.platform.call<AssignmentDiff & Problem>('GET', `/api/v1/assignments/${id}/diff${query}`)
const source = (id: number, query = '') =>
  git.platform.call<AssignmentSource & Problem>('GET', `/api/v1/assignments/${id}/source${query}`)

/** An assignment whose next version a guard holds, because it is looser. */
async function heldAssignment() {
  const { id: repo_id, repository, url } = await git.connect({ [path]: manifest([one, limit(5)]) })
  const { agent_id, agent_key } = await git.register()
  const { body: made } = await git.assign(agent_id, repo_id)
  repository.commit({ [path]: manifest([limit(9)]) })
  await git.tick(repo_id)
  return { ...made, agent_key, repository, repo_id, url, assigned: await git.read(made.id) }
}

describe('the difference between versions', () => {
  it('is that of the held version by default, in words', async () => {
    const { id, manifest_sha, assigned, agent_key } = await heldAssignment()
    const { status, body } = await diff(id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      from_sha: manifest_sha,
      to_sha: assigned.held_sha,
      summary: '1 policy is removed and 1 policy becomes looser',
      waivers: [],
    })
    expect(body.changes.map(({ name, change }) => [name, change])).toEqual([
      ['Few steps', 'looser'],
      ['one', 'removed'],
    ])
    expect(body.changes[0]?.members).toEqual([{ path: 'params.max_steps', what: '5 → 9', effect: 'looser' }])
    expect(body.text).toContain('max_steps 5 → 9 (looser)')
    expect(body.text).toContain(agent_key)
    expect((await diff(id, '?to=held')).body).toEqual(body)
    expect((await diff(id, '?to=head')).body).toEqual(body)
    expect((await diff(id, `?to=${assigned.held_sha}`)).body).toEqual(body)
  })

  it('is empty at the head, and reaches back to earlier versions', async () => {
    const { id, manifest_sha, repo_id } = await heldAssignment()
    await git.change(id, 'approve')
    expect((await diff(id)).body).toMatchObject({ changes: [], summary: 'no policy changes its effect' })
    const { body } = await diff(id, `?to=${manifest_sha}`)
    expect(body.to_sha).toBe(manifest_sha)
    expect(body.changes.map(({ name, change }) => [name, change])).toEqual([
      ['one', 'added'],
      ['Few steps', 'stricter'],
    ])
    expect(repo_id).toBeGreaterThan(0)
  })

  it('of a version that is pinned to the one at the head needs no Git host', async () => {
    const { id: repo_id, repository } = await git.connect({ [path]: manifest([limit(5)]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, repo_id)
    await git.change(made.id, 'pin')
    repository.commit({ [path]: manifest([limit(3)]) })
    await git.tick(repo_id)
    let asked = 0
    git.host.intercept = () => {
      asked += 1
      return false
    }
    expect((await diff(made.id)).body.changes).toMatchObject([{ name: 'Few steps', change: 'stricter' }])
    expect(asked).toBe(0)
  })

  it.each([
    ['?to=held', 'to'],
    ['?to=main', 'to'],
    [`?to=${'0'.repeat(40)}`, 'to'],
  ])('is rejected for %s', async (query, field) => {
    const { id: repo_id } = await git.connect({ [path]: manifest([one]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, repo_id)
    const { status, body } = await diff(made.id, query)
    expect([status, body.errors?.[0]?.path]).toEqual([422, field])
  })

  it('names the conditions when the head is not a manifest', async () => {
    const { id: repo_id, repository } = await git.connect({ [path]: manifest([one]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, repo_id)
    repository.commit({ [path]: 'name: Refunds\npolicies: 5\n' })
    await git.tick(repo_id)
    const { status, body } = await diff(made.id)
    expect([status, body.errors?.[0]?.message]).toEqual([422, expect.stringContaining('see the conditions')])
  })

  it('of an unknown assignment is not found', async () => {
    for (const id of [999_999, 'x']) expect((await diff(id as number)).status).toBe(404)
  })
})

describe('the source of a version', () => {
  it('is the text in force with the line of each policy, or that of another version', async () => {
    const { id, repository, url, manifest_sha, assigned } = await heldAssignment()
    const { status, body } = await source(id)
    const commit = repository.git('rev-parse', 'main~1').trim()
    expect([status, body]).toMatchObject([
      200,
      { repo_url: url, path, sha: manifest_sha, commit_sha: commit, web_url: null, lines: { one: 1, 'Few steps': 1 } },
    ])
    expect(body.text).toBe(manifest([one, limit(5)]))
    const { body: held } = await source(id, `?sha=${assigned.held_sha}`)
    expect(held).toMatchObject({ text: manifest([limit(9)]), commit_sha: repository.git('rev-parse', 'main').trim() })
    const unknown = await source(id, `?sha=${'0'.repeat(40)}`)
    expect([unknown.status, unknown.body.errors?.[0]?.path]).toEqual([422, 'sha'])
  })

  it.each([
    [
      'https://github.com/acme/rules',
      'c1',
      'a folder/x#1.yaml',
      'https://github.com/acme/rules/blob/c1/a%20folder/x%231.yaml',
    ],
    ['https://github.com/acme/rules.git', 'c1', 'x.yaml', 'https://github.com/acme/rules/blob/c1/x.yaml'],
    ['https://github.com/acme/rules', null, 'x.yaml', null],
    ['https://github.com.example.org/acme/rules', 'c1', 'x.yaml', null],
    [null, 'c1', 'x.yaml', null],
  ])('has a page at GitHub only: %s %s %s', (repo_url, commit_sha, file, web_url) => {
    expect(webUrlOf(repo_url, commit_sha, file)).toBe(web_url)
  })

  it('of the baseline is that of this build', async () => {
    const { agent_id } = await git.register()
    const { body } = await git.platform.call<AssignmentList>('GET', `/api/v1/assignments?agent_id=${agent_id}`)
    const [baseline] = body.assignments
    const { body: found } = await source(baseline?.id ?? 0)
    expect(found).toMatchObject({ repo_url: null, commit_sha: null, web_url: null, sha: baseline?.manifest_sha })
    const lines = found.text.split('\n')
    for (const [name, line] of Object.entries(found.lines)) expect(lines[line - 1]).toContain(name)
    expect(Object.keys(found.lines)).toHaveLength(baseline?.policies ?? 0)
  })
})

describe('the versions of an assignment', () => {
  const versions = (id: number) => git.platform.call<AssignmentVersionList>('GET', `/api/v1/assignments/${id}/versions`)

  it('are those that were in force, the latest first', async () => {
    const { id, manifest_sha, assigned, repository } = await heldAssignment()
    expect((await versions(id)).body.versions.map((one) => one.manifest_sha)).toEqual([manifest_sha])
    await git.change(id, 'approve')
    const { status, body } = await versions(id)
    const [latest, first] = body.versions
    expect([status, body.versions.length]).toEqual([200, 2])
    expect(latest).toMatchObject({ manifest_sha: assigned.held_sha, until_at: null, put_by: 'local' })
    expect(first).toMatchObject({ manifest_sha, until_at: latest?.from_at })
    expect(first?.commit_sha).toBe(repository.git('rev-parse', 'main~1').trim())
  })

  it('of an unknown assignment are not found', async () => {
    for (const id of [999_999, 'x']) expect((await versions(id as number)).status).toBe(404)
  })
})

describe('the lists of manifests and assignments', () => {
  it('select one file and the agents that have it', async () => {
    const files = { [path]: manifest([one]), 'other.yaml': manifest([limit(5)]) }
    const { id: repo_id } = await git.connect(files)
    const { agent_id, agent_key } = await git.register({ name: 'Desk' })
    for (const manifest_path of Object.keys(files)) await git.assign(agent_id, repo_id, { manifest_path })
    const { body: found } = await git.platform.call<AssignmentList>(
      'GET',
      `/api/v1/assignments?repo_id=${repo_id}&manifest_path=other.yaml`,
    )
    expect(found.assignments).toMatchObject([{ manifest_path: 'other.yaml', agent_id, agent_key, agent_name: 'Desk' }])
    for (const at of [`repos/${repo_id}/manifests?path=other.yaml`, `manifests?repo_id=${repo_id}&path=other.yaml`]) {
      const { body } = await git.platform.call<ManifestList>('GET', `/api/v1/${at}`)
      expect([at, body.total, body.manifests.map((file) => file.path)]).toEqual([at, 1, ['other.yaml']])
    }
    const { body: all } = await git.platform.call<ManifestList>('GET', `/api/v1/manifests?repo_id=${repo_id}`)
    expect(all.total).toBe(2)
  })
})

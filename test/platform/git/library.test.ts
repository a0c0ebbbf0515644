// The library in every workspace, new and old: an ordinary repository whose files are those of the build.
import { execFileSync } from 'node:child_process'
import { validateFiles } from '@svc/engine'
import { baseline, library, libraryListing } from '@svc/library'
import { readConfig } from '@svc/platform'
import type {
  Account,
  AssignmentList,
  MadeAssignment,
  ManifestList,
  Problem,
  Repository,
  RepositoryList,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { releaseAccount } from '../../../platform/access/commands/release-account.js'
import { openDatabase } from '../../../platform/db/db.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { join, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

type Call = SignedIn['call']
const libraries = async (call: Call) =>
  (await call<RepositoryList>('GET', '/api/v1/repos')).body.repos.filter(({ provider }) => provider === 'bundled')
const manifestsIn = async (call: Call, id: number) =>
  (await call<ManifestList>('GET', `/api/v1/repos/${id}/manifests?limit=200`)).body.manifests
const isManifest = (path: string) => path.endsWith('.yaml') && !path.endsWith('.test.yaml')
const expected = library.filter(({ path }) => isManifest(path)).map(({ path, blob_sha }) => [path, blob_sha])

/** Waits until the job has listed the manifests of the library. */
const listed = (call: Call, id: number) =>
  vi.waitFor(async () => {
    const manifests = await manifestsIn(call, id)
    expect(manifests.map(({ path, blob_sha }) => [path, blob_sha]).sort()).toEqual([...expected].sort())
    return manifests
  }, soon)

describe('the files of the library', () => {
  it('have the SHAs that Git gives them', () => {
    for (const { path, blob_sha, text } of library)
      expect([path, execFileSync('git', ['hash-object', '--stdin'], { input: text, encoding: 'utf8' }).trim()]).toEqual(
        [path, blob_sha],
      )
  })
})

describe('the listing of the library', () => {
  it('is what validation reports', () => {
    const files = library.filter(({ path }) => isManifest(path)).map(({ path, text }) => ({ path, text, named: true }))
    const { manifests, findings } = validateFiles(files, { tests: 'off', now: 0 })
    expect(findings).toEqual([])
    const reported = manifests.map(({ file, name, version, policies, valid }) => [file, name, version, policies, valid])
    expect(libraryListing.map(({ path, name, version, policies }) => [path, name, version, policies, true])).toEqual(
      reported,
    )
    const shas = new Map(library.map(({ path, blob_sha, text }) => [path, [blob_sha, Buffer.byteLength(text)]]))
    expect(libraryListing.map(({ path, blob_sha, size }) => [path, [blob_sha, size]])).toEqual(
      libraryListing.map(({ path }) => [path, shas.get(path)]),
    )
  })
})

describe('the library', () => {
  let mails: MailServer
  let platform: TestPlatform
  const operator: Call = (method, path, body) => platform.call(method, path, body === undefined ? {} : { body })
  beforeAll(async () => {
    mails = await startMailServer()
    const env = { SVC_SMTP_URL: mails.url, SVC_REGISTRATION_CAP: '3', SVC_RATE_LIMIT_ADDRESS: '0' }
    platform = await startPlatform({ env })
  })
  afterAll(async () => {
    await discard(platform)
    await mails.close()
  })

  it('is in every new workspace once, with the manifests of the build', async () => {
    const owner = await signedIn(platform, mails, 'owner@example.org')
    const guest = await signedIn(platform, mails, 'guest@example.org')
    const late = await signedIn(platform, mails, 'late@example.org')
    expect((await late.me()).is_capped).toBe(true)
    const db = await openDatabase(readConfig(platform.env).value)
    await releaseAccount(db, late.email)
    await db.close()
    await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: 'Acme' })
    const workspaces: [string, Call][] = [
      ['the first workspace', operator],
      ['a promoted workspace', owner.call],
      ['a personal workspace', guest.call],
      ['a released account', late.call],
    ]
    for (const [name, call] of workspaces) expect([name, (await libraries(call)).length]).toEqual([name, 1])
    // The fresh personal workspace of the promotion, and the workspace of an invitation.
    const fresh = (await owner.call<Account>('GET', '/auth/me')).body.workspaces.find(({ kind }) => kind === 'personal')
    await join(owner, guest, owner.org_id, 'member')
    expect(await libraries(guest.call)).toEqual(await libraries(owner.call))
    expect((await owner.call('POST', `/auth/workspaces/${fresh?.org_id}/switch`)).status).toBe(204)
    const [own] = await libraries(owner.call)
    // The timer reads it within a minute; a member need not wait.
    await owner.call('POST', `/api/v1/repos/${own?.id}/resync`, {})
    await listed(owner.call, own?.id ?? 0)
  })

  it('is assigned and disconnected as any repository, and does not return', async () => {
    const [{ id } = { id: 0 }] = await libraries(operator)
    const manifests = await listed(operator, id)
    expect(manifests.filter(({ valid }) => !valid)).toEqual([])
    const agent = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key: 'a' },
    })
    const { agent_id } = agent.body
    for (const { path, blob_sha, policies } of manifests) {
      const body = { agent_id, repo_id: id, manifest_path: path }
      const made = await operator<MadeAssignment>('POST', '/api/v1/assignments', body)
      expect([path, made.status, made.body.manifest_sha]).toEqual([path, 201, blob_sha])
      expect(made.body.policies.length + made.body.skipped.length).toBe(policies)
      expect(made.body.policies.every((one) => one.manifest_sha === blob_sha && one.manifest_path === path)).toBe(true)
    }
    const rejected = await operator<Problem>('DELETE', `/api/v1/repos/${id}`)
    expect([rejected.status, rejected.body.code]).toEqual([409, 'CONFLICT'])
    const query = `repo_id=${id}&limit=200`
    const { assignments } = (await operator<AssignmentList>('GET', `/api/v1/assignments?${query}`)).body
    expect(assignments.length).toBe(manifests.length)
    for (const one of assignments) expect((await operator('DELETE', `/api/v1/assignments/${one.id}`)).status).toBe(204)
    expect((await operator('DELETE', `/api/v1/repos/${id}`)).status).toBe(204)
    platform = await platform.restart()
    expect(await libraries(operator)).toEqual([])
    const again = await operator<AssignmentList>('GET', `/api/v1/assignments?agent_id=${agent_id}`)
    expect(again.body.assignments).toMatchObject([{ repo_id: null, manifest_path: baseline().path }])
  })

  it('is connected again where a member asks for it, once and with nothing else', async () => {
    const connect = (body: object) => operator<Repository & Pick<Problem, 'errors'>>('POST', '/api/v1/repos', body)
    expect((await connect({ library: false })).status).toBe(422)
    const both = await connect({ library: true, owner: 'acme', name: 'policies' })
    expect([both.status, both.body.errors.map(({ path }) => path)]).toEqual([422, ['owner', 'name']])
    const { status, body } = await connect({ library: true, url: null })
    expect([status, body.provider, body.status, body.url]).toEqual([201, 'bundled', 'synced', null])
    await listed(operator, body.id)
    expect((await connect({ library: true })).status).toBe(409)
    expect((await libraries(operator)).map(({ id }) => id)).toEqual([body.id])
    const agent = { agent_key: 'again' }
    const { agent_id } = (
      await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', { as: 'key', body: agent })
    ).body
    const assignment = { agent_id, repo_id: body.id, manifest_path: 'operational/starter.yaml' }
    expect((await operator('POST', '/api/v1/assignments', assignment)).status).toBe(201)
  })
})

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('a baseline of an earlier version of the library', () => {
  let platform: TestPlatform
  let call: Call
  let agent_id: string
  beforeAll(async () => {
    platform = await startPlatform()
    call = (method, path, body) => platform.call(method, path, body === undefined ? {} : { body })
    const agent = { as: 'key', body: { agent_key: 'desk' } } as const
    agent_id = (await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', agent)).body.agent_id
    postgres?.psql(platform.env.SVC_DATABASE_URL ?? '', `update assignments set manifest_sha = '${'b'.repeat(40)}'`)
    platform = await platform.restart()
  })
  afterAll(() => discard(platform))

  it('is brought up to date, taken off and put back', async () => {
    const list = async () =>
      (await call<AssignmentList>('GET', `/api/v1/assignments?agent_id=${agent_id}`)).body.assignments
    const { path, blob_sha } = baseline()
    const stored = { id: 1, repo_id: null, manifest_path: path, manifest_sha: 'b'.repeat(40), policies: 15 }
    expect(await list()).toMatchObject([{ ...stored, status: 'out_of_sync', head_sha: blob_sha, pin: null }])
    const again = await call<Problem>('POST', '/api/v1/assignments', { agent_id })
    expect([again.status, again.body.code]).toEqual([409, 'CONFLICT'])
    // Neither a start nor a pin changes what is in force.
    await call('PATCH', '/api/v1/assignments/1', { pin: 'task' })
    platform = await platform.restart()
    expect(await list()).toMatchObject([{ ...stored, pin: 'task' }])
    expect((await call('POST', '/api/v1/assignments/1/resync', {})).body).toMatchObject({
      status: 'synced',
      manifest_sha: blob_sha,
      policies: 15,
    })
    expect((await call('DELETE', '/api/v1/assignments/1')).status).toBe(204)
    expect(await list()).toEqual([])
    const back = await call<MadeAssignment>('POST', '/api/v1/assignments', { agent_id, repo_id: null })
    expect([back.status, back.body.policies.length, back.body.manifest_path]).toEqual([201, 15, path])
  })
})

// Assignments that follow their branch: policies, guards, pins, what keeps the last valid version in force.
import type { AssignmentList, EffectivePolicies, EventList, PolicyList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ManifestsInGit,
  refunds as manifest,
  openManifestsInGit,
  manifestPath as path,
  type WrittenPolicy,
} from '../../support/git/manifests-in-git.js'
import type { TestPlatform } from '../../support/server/platform.js'

let git: ManifestsInGit
let platform: TestPlatform

beforeAll(async () => {
  git = await openManifestsInGit()
  platform = git.platform
})
afterAll(() => git.close())

/** The assignments that a filter selects. */
async function idsOf(filter: string): Promise<number[]> {
  const { body } = await platform.call<AssignmentList>('GET', `/api/v1/assignments?limit=200&${filter}`)
  return body.assignments.map(({ id }) => id)
}

const [one, two, three] = [{ name: 'one' }, { name: 'two' }, { name: 'three' }]

describe('an assignment', () => {
  it('puts policies in force with their provenance', async () => {
    const { id, repository, url } = await git.connect({ [path]: manifest([one, two]) })
    const { agent_id, agent_key } = await git.register()
    const { status, body } = await git.assign(agent_id, id)
    const manifest_sha = repository.git('rev-parse', `main:${path}`).trim()
    expect(status).toBe(201)
    expect(body).toMatchObject({
      agent_id,
      repo_id: id,
      manifest_path: path,
      manifest_sha,
      status: 'synced',
      skipped: [],
    })
    expect(body.policies.map(({ name }) => name)).toEqual(['one', 'two'])
    const { policies } = (await platform.call<PolicyList>('GET', `/api/v1/policies?agent_id=${agent_id}&limit=200`))
      .body
    const shown = policies.find(({ name }) => name === 'one')
    expect(shown).toMatchObject({ manifest_repo: url, manifest_path: path, manifest_sha, manifest_name: 'Refunds' })
    expect(shown).toMatchObject({ agent_name: agent_key, commit_sha: repository.git('rev-parse', 'main').trim() })
    expect((await platform.call('GET', `/api/v1/policies/${shown?.id}`)).body).toEqual(shown)
    const again = await git.assign(agent_id, id)
    expect(again.status).toBe(409)
  })

  it('skips policies above the level of the agent, and puts them in force when the level is raised', async () => {
    const { id } = await git.connect({ [path]: manifest([one, { ...two, risk_classification: 'high' }]) })
    const { agent_id, agent_key } = await git.register({ risk_classification: 'limited' })
    const made = await git.assign(agent_id, id)
    expect([made.body.skipped, await git.inForce(agent_id)]).toEqual([['two'], ['one']])
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key, risk_classification: 'high' } })
    expect(await git.inForce(agent_id)).toEqual(['one', 'two'])
    expect((await git.read(made.body.id)).skipped).toEqual([])
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key, risk_classification: 'minimal' } })
    expect(await git.inForce(agent_id)).toEqual(['one', 'two'])
    await platform.call('POST', `/api/v1/agents/${agent_id}/confirm`, { body: { risk_classification: 'minimal' } })
    expect(await git.inForce(agent_id)).toEqual(['one'])
  })

  it('of an invalid manifest is rejected with the findings', async () => {
    const { id } = await git.connect({
      [path]:
        'name: R\nversion: "1"\npolicies:\n  - name: x\n    rule_type: nope\n    scope: step_execution\n    severity: low\n',
    })
    const answer = await platform.call<Problem>('POST', '/api/v1/assignments', {
      body: { agent_id: (await git.register()).agent_id, repo_id: id, manifest_path: path },
    })
    expect([answer.status, answer.body.errors[0]]).toMatchObject([422, { id: 'unknown-rule', line: 5 }])
  })

  it('of a missing file, agent or repository is rejected', async () => {
    const { id } = await git.connect({ [path]: manifest([one]) })
    const { agent_id } = await git.register()
    const missing = await platform.call<Problem>('POST', '/api/v1/assignments', {
      body: { agent_id, repo_id: id, manifest_path: 'other.yaml' },
    })
    expect([missing.status, missing.body.detail]).toEqual([404, expect.stringContaining('`refunds.yaml`')])
    expect((await git.assign('ag_unknown', id)).status).toBe(404)
    expect((await git.assign(agent_id, 99_999)).status).toBe(404)
    expect((await git.assign(agent_id, id, {})).status).toBe(422)
  })

  it('of the baseline is there for a new agent, does not return by itself, and can be put back', async () => {
    const { agent_id, agent_key } = await git.register()
    const list = async () =>
      (await platform.call<AssignmentList>('GET', `/api/v1/assignments?agent_id=${agent_id}`)).body.assignments
    const [baseline] = await list()
    expect(baseline).toMatchObject({ repo_id: null, status: 'synced', policies: 15 })
    expect((await git.assign(agent_id, null, {})).status).toBe(409)
    await platform.call('DELETE', `/api/v1/assignments/${baseline?.id}`)
    await platform.call('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key, purpose: 'again' },
    })
    expect(await list()).toEqual([])
    const back = await git.assign(agent_id, null, {})
    expect([back.status, back.body.policies.length]).toEqual([201, 15])
  })
})

describe('the list of assignments', () => {
  it('has those with a status', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one]) })
    const made = [1, 2, 3].map(async () => (await git.assign((await git.register()).agent_id, id)).body.id)
    const [pinned = 0, ...others] = await Promise.all(made)
    await git.change(pinned, 'pin')
    repository.commit({ [path]: 'policies: [' })
    await git.tick(id)
    const list = async (status: string) => {
      const query = `repo_id=${id}&status=${status}`
      const { assignments } = (await platform.call<AssignmentList>('GET', `/api/v1/assignments?${query}`)).body
      expect(assignments.every((one) => one.status === status)).toBe(true)
      return assignments.map((one) => one.id)
    }
    expect(await list('pinned')).toEqual([pinned])
    expect(await list('degraded')).toEqual(others.sort((a, b) => a - b))
    expect([await list('synced'), await list('out_of_sync')]).toEqual([[], []])
  })
})

describe('a push', () => {
  it('replaces the policies, and the same content changes nothing', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    repository.commit({ [path]: manifest([one]), 'README.md': 'more' })
    await git.tick(id)
    expect(await git.read(made.id)).toMatchObject({ manifest_sha: made.manifest_sha, status: 'synced' })
    repository.commit({ [path]: manifest([one, two]) })
    await git.tick(id)
    const after = await git.read(made.id)
    expect(after.manifest_sha).toBe(repository.git('rev-parse', `main:${path}`).trim())
    expect(await git.inForce(agent_id)).toEqual(['one', 'two'])
    const { events } = (
      await platform.call<EventList>('GET', `/api/v1/events?kind=assignment.resynced&subject=${made.id}`)
    ).body
    expect(events.map(({ data }) => [data.from_sha, data.to_sha])).toEqual([[made.manifest_sha, after.manifest_sha]])
  })

  it('that breaks, deletes or renames the manifest keeps the last valid policies and says why', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    const stateAfter = async (files: Readonly<Record<string, string>>) => {
      repository.commit(files)
      await git.tick(id)
      const { status, conditions } = await git.read(made.id)
      return [status, conditions[0]?.kind, conditions[0]?.message, await git.inForce(agent_id)]
    }
    expect(await stateAfter({ [path]: 'policies: [' })).toEqual([
      'degraded',
      'invalid_manifest',
      expect.stringContaining('line 1'),
      ['one'],
    ])
    expect(await stateAfter({ 'README.md': 'gone' })).toEqual([
      'degraded',
      'manifest_missing',
      expect.stringContaining('not in the branch'),
      ['one'],
    ])
    expect(await stateAfter({ 'moved.yaml': manifest([one]) })).toEqual([
      'degraded',
      'manifest_missing',
      expect.stringContaining('`moved.yaml`'),
      ['one'],
    ])
    expect(await stateAfter({ [path]: manifest([one, two]) })).toEqual(['synced', undefined, undefined, ['one', 'two']])
  })

  it('that deletes the branch, or a host that is away, degrades the repository until it heals', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one]) })
    const { body: made } = await git.assign((await git.register()).agent_id, id)
    repository.git('branch', '-m', 'main', 'other')
    expect((await git.tick(id)).body).toMatchObject({ status: 'degraded', conditions: [{ kind: 'branch_missing' }] })
    expect(await git.read(made.id)).toMatchObject({ status: 'degraded', conditions: [{ kind: 'branch_missing' }] })
    repository.git('branch', '-m', 'other', 'main')
    expect((await git.tick(id)).body).toMatchObject({ status: 'synced', conditions: [] })
    expect(await git.read(made.id)).toMatchObject({ status: 'synced', conditions: [] })
  })

  const weaker: readonly (readonly [string, readonly WrittenPolicy[], readonly WrittenPolicy[], readonly object[]])[] =
    [
      [
        'disables every policy',
        [one, two, three],
        [one, two, three].map((policy) => ({ ...policy, enabled: false })),
        [],
      ],
      ['removes more than half', [one, two, three], [one], []],
      ['lowers a critical policy', [{ ...one, severity: 'critical' }], [{ ...one, severity: 'high' }], []],
      ['observes what was enforced', [one, two], [{ ...one, mode: 'observe' }, two], []],
      [
        'disables the policies',
        [one, two],
        [
          { ...one, enabled: false },
          { ...two, enabled: false },
        ],
        [],
      ],
    ]
  it.each(weaker)('that %s waits for an approval', async (_, before, after, waivers) => {
    const { id, repository } = await git.connect({ [path]: manifest(before) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    repository.commit({ [path]: manifest(after, waivers) })
    await git.tick(id)
    const held = await git.read(made.id)
    expect(held).toMatchObject({
      status: 'out_of_sync',
      manifest_sha: made.manifest_sha,
      conditions: [{ kind: 'guard_tripped' }],
    })
    expect(await idsOf('held=true')).toContain(made.id)
    expect(await idsOf('held=false')).not.toContain(made.id)
    expect(await git.inForce(agent_id)).toEqual(before.map(({ name }) => name))
    expect((await git.change(made.id, 'approve', { manifest_sha: 'f'.repeat(40) })).status).toBe(409)
    const approved = await git.change(made.id, 'approve', { manifest_sha: held.held_sha })
    expect(approved.body).toMatchObject({ status: 'synced', manifest_sha: held.held_sha, conditions: [] })
    expect(await idsOf('held=true')).not.toContain(made.id)
    expect((await git.change(made.id, 'approve')).status).toBe(409)
  })

  it('is held with those before it that a person has not put in force', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one, two, three]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    const statusAfter = async (policies: readonly WrittenPolicy[]) => {
      repository.commit({ [path]: manifest(policies) })
      await git.tick(id)
      return (await git.read(made.id)).status
    }
    const [four, five, six] = ['four', 'five', 'six'].map((name) => ({ name, params: { field: `input.${name}` } }))
    expect(await statusAfter([one, two, three, four, five, six] as WrittenPolicy[])).toBe('synced')
    expect(await statusAfter([one, four, five, six] as WrittenPolicy[])).toBe('out_of_sync')
    expect((await git.change(made.id, 'approve')).body).toMatchObject({ status: 'synced' })
    expect(await statusAfter([four, five, six] as WrittenPolicy[])).toBe('synced')
    expect(await statusAfter([four, five] as WrittenPolicy[])).toBe('synced')
    expect(await statusAfter([four] as WrittenPolicy[])).toBe('out_of_sync')
    expect(await git.inForce(agent_id)).toEqual(['four', 'five'])
  })

  it('that follows a held one is not approved with it', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one, two, three]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    repository.commit({ [path]: manifest([one]) })
    await git.tick(id)
    const { held_sha } = await git.read(made.id)
    repository.commit({ [path]: manifest([two]) })
    const answer = await git.change(made.id, 'approve', { manifest_sha: held_sha })
    expect(answer.status).toBe(409)
    const after = await git.read(made.id)
    expect(after.held_sha).toBe(repository.git('rev-parse', `main:${path}`).trim())
    expect(await git.inForce(agent_id)).toEqual(['one', 'two', 'three'])
  })

  it('that waives a policy for the agent waits for an approval, and a renamed policy does not', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one, two]) })
    const { agent_id, agent_key } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    repository.commit({ [path]: manifest([{ name: 'uno' }, { name: 'due' }]) })
    // The two policies have the same meaning, and only the names differ.
    await git.tick(id)
    expect(await git.inForce(agent_id)).toEqual(['uno', 'due'])
    const waivers = [{ policy: 'uno', agent_key, reason: 'a test', approved_by: 'mia', expires: '2099-01-01' }]
    repository.commit({ [path]: manifest([{ name: 'uno' }, { name: 'due' }], waivers) })
    await git.tick(id)
    expect(await git.read(made.id)).toMatchObject({ status: 'out_of_sync', conditions: [{ kind: 'guard_tripped' }] })
    const by_hand = await git.change(made.id, 'resync')
    expect(by_hand.body).toMatchObject({
      status: 'synced',
      waivers: [{ policy: 'uno', waived_until: '2099-01-02T00:00:00.000Z' }],
    })
    const effective = (
      await platform.call<EffectivePolicies>('GET', `/api/v1/policies/effective?agent_key=${agent_key}`, { as: 'key' })
    ).body
    expect(effective.policies.find(({ name }) => name === 'uno')?.waived_until).toBe('2099-01-02T00:00:00.000Z')
  })

  it('is not applied to a pinned assignment, and a rolled-back version does not return by itself', async () => {
    const { id, repository } = await git.connect({ [path]: manifest([one]) })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    repository.commit({ [path]: manifest([one, two]) })
    await git.tick(id)
    const bad = (await git.read(made.id)).manifest_sha
    const rolled = await git.change(made.id, 'pin', { manifest_sha: made.manifest_sha })
    expect(rolled.body).toMatchObject({ status: 'pinned', manifest_sha: made.manifest_sha, rejected_shas: [bad] })
    await git.tick(id)
    expect(await git.inForce(agent_id)).toEqual(['one'])
    expect((await git.change(made.id, 'unpin')).body).toMatchObject({
      status: 'out_of_sync',
      conditions: [{ kind: 'rejected_version' }],
    })
    repository.commit({ [path]: manifest([one, three]) })
    await git.tick(id)
    expect(await git.read(made.id)).toMatchObject({ status: 'synced', conditions: [] })
    expect(await git.inForce(agent_id)).toEqual(['one', 'three'])
    expect((await git.change(made.id, 'pin', { manifest_sha: 'e'.repeat(40) })).status).toBe(422)
  })
})

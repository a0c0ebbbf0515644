// What members set on policies of manifests: it holds as long as the manifest has the policy as it was, and is visible.
import type { Assignment, Policy } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ManifestsInGit, manifestPath, openManifestsInGit, refunds } from '../../support/git/manifests-in-git.js'
import { policyCalls } from '../../support/http/written-policies.js'

let git: ManifestsInGit
beforeAll(async () => {
  git = await openManifestsInGit()
})
afterAll(() => git.close())

const { change, move, remove, get, list, events } = policyCalls(() => git.platform)
type Written = { readonly name: string; readonly [member: string]: unknown }
const [a, b] = [{ name: 'A' }, { name: 'B' }]

/** An agent with a manifest of these policies. */
async function desk(policies: readonly Written[], more: object = {}) {
  const { id: repo_id, repository } = await git.connect({ [manifestPath]: refunds(policies) })
  const { agent_id, agent_key } = await git.register(more)
  const { id } = (await git.assign(agent_id, repo_id)).body
  const find = async (name: string): Promise<Policy> => {
    const found = (await list(`agent_id=${agent_id}&q=${name}`)).filter(
      (one) => one.name === name && one.manifest_name === 'Refunds',
    )
    return found.at(-1) as Policy
  }
  return {
    agent_id,
    agent_key,
    assignment: id,
    find,
    /** Reads the branch as the timer does. */
    push: async (next: readonly Written[]) => {
      repository.commit({ [manifestPath]: refunds(next) })
      await git.tick(repo_id)
      return (await git.platform.call<Assignment>('GET', `/api/v1/assignments/${id}`)).body
    },
    switches: async (name: string) => {
      const { enabled, mode, overridden } = await find(name)
      return { enabled, mode, overridden }
    },
  }
}

describe('a policy from a manifest', () => {
  it('is changed in its file, and deleted there', async () => {
    const one = await desk([a])
    const { id, manifest_repo } = await one.find('A')
    const changed = await change(id, { severity: 'low', name: 'C', mode: 'observe' })
    expect([changed.status, changed.body.code]).toEqual([409, 'MANAGED_BY_MANIFEST'])
    expect(changed.body.errors.map(({ path }) => path)).toEqual(['name', 'severity'])
    for (const words of [
      '`Refunds`',
      '`refunds.yaml`',
      manifest_repo,
      '`name`, `severity`',
      'change `refunds.yaml` there',
    ])
      expect(changed.body.detail).toContain(words)
    expect((await remove(id)).body).toMatchObject({ code: 'MANAGED_BY_MANIFEST' })
    expect((await get(id)).body).toMatchObject({ version: 1, mode: 'enforce', overridden: null })
    const [{ id: baseline = 0 } = {}] = await list(`agent_id=${one.agent_id}`)
    expect((await remove(baseline)).body.detail).toContain('assign another manifest')
  })

  it('can be disabled and put in observe mode, which shows what its manifest says', async () => {
    const one = await desk([a])
    const { id } = await one.find('A')
    expect((await move(id, 'disable')).body).toMatchObject({
      enabled: false,
      version: 2,
      overridden: { enabled: true },
    })
    expect((await change(id, { mode: 'observe' })).body.overridden).toEqual({ enabled: true, mode: 'enforce' })
    expect((await move(id, 'enable')).body.overridden).toEqual({ mode: 'enforce' })
    expect((await change(id, { mode: 'enforce' })).body.overridden).toBeNull()
    const kinds = ['policy.disabled', 'policy.updated', 'policy.enabled', 'policy.updated']
    expect((await events(id)).map(({ kind }) => kind)).toEqual(kinds)
    expect((await events(id))[0]?.data).toMatchObject({ manifest_path: manifestPath, agent_id: one.agent_id })
  })

  it('stays as it was set in a version that has it unchanged, with an event', async () => {
    const one = await desk([a, b])
    const first = await one.find('A')
    await move(first.id, 'disable')
    await change(first.id, { mode: 'observe' })
    expect((await one.push([a, b, { name: 'C' }])).status).toBe('synced')
    const next = await one.find('A')
    expect(next.id).not.toBe(first.id)
    expect(next).toMatchObject({ enabled: false, mode: 'observe', overridden: { enabled: true, mode: 'enforce' } })
    expect((await events(first.id)).at(-1)).toMatchObject({
      kind: 'policy.override_kept',
      data: { name: 'A', in_force: { policy_id: next.id, enabled: false, mode: 'observe' } },
    })
    expect((await move(next.id, 'enable')).body).toMatchObject({ enabled: true, overridden: { mode: 'enforce' } })
    const old = await move(first.id, 'enable')
    expect([old.status, old.body.code]).toEqual([409, 'INVALID_TRANSITION'])
    expect(old.body.detail).toContain('cannot enable a policy that is `replaced`')
  })

  it.each([
    ['changes it', [{ ...a, severity: 'high' }, b], 'changed'],
    ['removes it', [b], 'removed'],
  ])('is as its manifest says from a version that %s', async (_, next, reason) => {
    const one = await desk([a, b])
    const { id } = await one.find('A')
    await move(id, 'disable')
    expect((await one.push(next)).status).toBe('synced')
    if (reason === 'changed')
      expect(await one.switches('A')).toEqual({ enabled: true, mode: 'enforce', overridden: null })
    expect((await events(id)).at(-1)).toMatchObject({ kind: 'policy.override_dropped', data: { reason } })
  })

  it('that was set counts for guards as its manifest has it', async () => {
    const critical = { ...a, severity: 'critical' }
    const one = await desk([critical, b])
    await move((await one.find('A')).id, 'disable')
    const { conditions, status } = await one.push([b])
    expect([status, conditions.map(({ kind }) => kind)]).toEqual(['out_of_sync', ['guard_tripped']])
    expect(conditions[0]?.reason + String(conditions[0]?.message)).toContain('critical policy `A`')
  })

  it('stays as it was set when another level selects the policies again', async () => {
    const one = await desk([a, { ...b, risk_classification: 'high' }], { risk_classification: 'minimal' })
    await move((await one.find('A')).id, 'disable')
    await git.platform.call('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key: one.agent_key, risk_classification: 'high' },
    })
    expect(await one.switches('A')).toEqual({ enabled: false, mode: 'enforce', overridden: { enabled: true } })
    expect(await one.switches('B')).toEqual({ enabled: true, mode: 'enforce', overridden: null })
  })
})

// Assignments that change while a task runs: what the log and local engines get (docs/design/git.md §2).
import type { EffectivePolicies, LoggedStep } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ManifestsInGit, manifestPath, openManifestsInGit, refunds } from '../../support/git/manifests-in-git.js'
import { fast } from '../../support/log/log.js'
import { expectEqualVerdicts } from '../../support/log/rejudge.js'

let git: ManifestsInGit
beforeAll(async () => {
  git = await openManifestsInGit({ env: fast })
})
afterAll(() => git.close())

/** A policy that more than `max` refunds violate. */
const atMost = (max: number) => ({
  name: `at most ${max}`,
  rule_type: 'execution_max_steps',
  params: { step_type: { step_names: ['refund'] }, max_steps: max },
})
let count = 0

/** An agent and a repository, whose manifest has these policies. */
async function desk(policies: readonly { name: string }[]) {
  const { id, repository } = await git.connect({ [manifestPath]: refunds(policies) })
  const { agent_id, agent_key } = await git.register()
  count += 1
  const steps = new Map<string, number>()
  const policiesOf = async (headers: Readonly<Record<string, string>> = {}) => {
    const path = `/api/v1/policies/effective?agent_key=${agent_key}`
    const {
      status,
      headers: sent,
      body,
    } = await git.platform.call<EffectivePolicies>('GET', path, { as: 'key', headers })
    return { status, etag: sent.get('etag') ?? '', body }
  }
  return {
    /** Puts the new version in force by hand: the timer would hold it, because it removes a policy. */
    push: async (assignment: number, next: readonly { name: string }[]) => {
      repository.commit({ [manifestPath]: refunds(next) })
      expect((await git.change(assignment, 'resync')).body.status).toBe('synced')
    },
    assign: async (more: object = {}) =>
      (await git.assign(agent_id, id, { manifest_path: manifestPath, ...more })).body,
    /** Logs refunds; returns the violations of the last one among those of the manifest. */
    refund: async (name: string, times: number) => {
      const task_id = `${name} ${count}`
      let names: string[] = []
      for (let time = 0; time < times; time++) {
        const step = (steps.get(task_id) ?? 0) + 1
        steps.set(task_id, step)
        const sent = {
          step_type: 'step.resource',
          verb: 'POST',
          step_name: 'refund',
          timestamp: '2026-01-05T09:00:00Z',
        }
        const body = { ...sent, agent_id, task_id, step }
        const answer = await git.platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })
        expect([answer.status, answer.body]).toEqual([201, answer.body])
        names = answer.body.violations.flatMap((one) => (one.name.startsWith('at most') ? [one.name] : []))
      }
      return names
    },
    policiesOf,
  }
}

describe('a manifest that is assigned while a task runs', () => {
  it.each([undefined, 'task'])('applies with its whole history unless its pin is %s', async (pin) => {
    const one = await desk([atMost(3)])
    expect(await one.refund('running', 3)).toEqual([])
    await one.assign({ pin })
    expect(await one.refund('running', 1)).toEqual(pin === 'task' ? [] : ['at most 3'])
    await git.restart()
    expect(await one.refund('running', 1)).toEqual(pin === 'task' ? [] : ['at most 3'])
    expect(await one.refund('later', 4)).toEqual(['at most 3'])
  })

  it('and removed again ends for every task at once', async () => {
    const one = await desk([atMost(1)])
    const { id } = await one.assign({ pin: 'task' })
    expect(await one.refund('running', 2)).toEqual(['at most 1'])
    await git.platform.call('DELETE', `/api/v1/assignments/${id}`)
    expect(await one.refund('running', 1)).toEqual([])
    expect((await one.policiesOf()).body.manifests.map(({ path }) => path)).not.toContain(manifestPath)
  })
})

describe('the pin of an assignment', () => {
  it('can change while a task runs', async () => {
    const one = await desk([atMost(5)])
    const { id } = await one.assign({ pin: 'task' })
    await one.refund('running', 2)
    await one.push(id, [atMost(2)])
    expect(await one.refund('running', 1)).toEqual([])
    const patch = (pin: 'task' | null) => git.platform.call('PATCH', `/api/v1/assignments/${id}`, { body: { pin } })
    await patch(null)
    expect(await one.refund('running', 1)).toEqual(['at most 2'])
    await patch('task')
    expect(await one.refund('running', 1)).toEqual([])
  })

  it('changes the ETag of the policies for local engines, which get the earlier version', async () => {
    const one = await desk([atMost(5)])
    const { id, manifest_sha } = await one.assign()
    const before = await one.policiesOf()
    const manifestIn = ({ body }: typeof before) => body.manifests.find(({ path }) => path === manifestPath)
    expect([manifestIn(before)?.pin, before.body.earlier]).toEqual([null, []])
    expect((await one.policiesOf({ 'if-none-match': before.etag })).status).toBe(304)
    await git.platform.call('PATCH', `/api/v1/assignments/${id}`, { body: { pin: 'task' } })
    const pinned = await one.policiesOf({ 'if-none-match': before.etag })
    expect([pinned.status, manifestIn(pinned)?.pin, pinned.body.earlier]).toEqual([200, 'task', []])
    expect(pinned.etag).not.toBe(before.etag)
    expect(pinned.body.policies).toEqual(before.body.policies)
    await one.push(id, [atMost(2)])
    const pushed = await one.policiesOf({ 'if-none-match': pinned.etag })
    expect(pushed.body.earlier).toMatchObject([{ sha: manifest_sha, policies: [{ name: 'at most 5' }] }])
    expect(pushed.body.policies.map(({ name }) => name)).toContain('at most 2')
    expect(pushed.body.policies.map(({ name }) => name)).not.toContain('at most 5')
    await git.platform.call('PATCH', `/api/v1/assignments/${id}`, { body: { pin: null } })
    const unpinned = await one.policiesOf({ 'if-none-match': pushed.etag })
    expect([unpinned.status, unpinned.body.earlier]).toEqual([200, []])
  })
})

describe('the log of these tasks', () => {
  it('is evaluated again from a bundle with the same verdicts', async () => {
    const { steps } = await expectEqualVerdicts(git.platform)
    expect(steps).toBeGreaterThan(20)
  })
})

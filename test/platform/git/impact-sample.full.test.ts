// The impact of a change on a random sample of the recorded tasks, and how much it says about all of them.
import { wilsonInterval } from '@svc/engine/parts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampledTasks } from '../../../platform/git/impact/sampled-tasks.js'
import { type ImpactOn, nextManifest, openImpact } from '../../support/engine/impact.js'
import { type ManifestsInGit, manifestPath, openManifestsInGit, refunds } from '../../support/git/manifests-in-git.js'
import { tasksOf } from '../../support/http/task-fill.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('the impact on a random sample', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const tasks = 400
  let git: ManifestsInGit
  let on: ImpactOn
  let repo_id = 0
  let ids: string[] = []
  const changes = [
    {
      manifest_path: manifestPath,
      next: nextManifest(
        refunds([
          {
            name: 'Amounts',
            rule_type: 'field_in_range',
            severity: 'critical',
            params: { field: 'input.amount', min: 0, max: 500, target_step_types: ['step.resource'] },
          },
        ]),
      ),
    },
  ]
  beforeAll(async () => {
    git = await openManifestsInGit({ database_url: url, env: { SVC_CHECKPOINT_SECONDS: '0' } })
    const org_id = postgres.psql(url, 'select org_id from org_log')
    on = await openImpact(git.platform, org_id)
    repo_id = (await git.connect({ [manifestPath]: refunds([{ name: 'Refunds have an amount' }]) })).id
    const agents = [await git.register(), await git.register()]
    for (const { agent_id } of agents) await git.assign(agent_id, repo_id)
    ids = agents.map(({ agent_id }) => agent_id)
    postgres.psql(url, tasksOf(org_id, ids, tasks, 18, 1000))
  })
  afterAll(async () => {
    await on.close()
    await git.close()
  })

  it('is of the tasks of the period', async () => {
    const recorded = async (days: number) => (await on.impact({ repo_id, changes, days, max_tasks: 10 })).recorded_tasks
    // They are spread over twenty days, except the last minutes.
    expect([await recorded(30), await recorded(10)]).toEqual([tasks, tasks / 2])
  })

  it('is the same for the same seed', async () => {
    const whole = await on.impact({ repo_id, changes })
    expect([whole.tasks, whole.newly_blocked_tasks]).toEqual([tasks, tasks / 20])
    const part = await on.impact({ repo_id, changes, max_tasks: 100 })
    expect([part.recorded_tasks, part.sampled_tasks, part.tasks]).toEqual([tasks, 100, 100])
    expect(await on.impact({ repo_id, changes, max_tasks: 100 })).toEqual(part)
    expect(await on.impact({ repo_id, changes, max_steps: 100 * 18 })).toEqual(part)
    expect(await on.impact({ repo_id, changes, max_steps: 1 })).toMatchObject({ sampled_tasks: 1 })
    expect(await on.impact({ repo_id, changes, max_tasks: 100 }, { seed: 'other' })).not.toEqual(part)
  })

  it('holds the share of all tasks in 95 of 100 intervals', async () => {
    const from = new Date(Date.now() - 30 * 86_400_000).toISOString()
    let held = 0
    const drawn = new Map<string, number>()
    for (let seed = 0; seed < 200; seed += 1) {
      // By the number of tasks, and by their steps, of which each has 18.
      const most =
        seed % 2 === 0 ? { max_tasks: 80, max_steps: 300_000 } : { max_tasks: 10_000, max_steps: 80 * 18 + 17 }
      const sample = await sampledTasks(on.read, on.scope, ids, { from, seed: `seed ${seed}`, ...most })
      expect([sample.recorded, new Set(sample.tasks.map(({ task_id }) => task_id)).size]).toEqual([tasks, 80])
      for (const { task_id } of sample.tasks) drawn.set(task_id, (drawn.get(task_id) ?? 0) + 1)
      const flips = sample.tasks.filter(({ task_id }) => Number(task_id.slice(5)) % 20 === 0).length
      const [low, high] = wilsonInterval(flips, 80)
      if (low <= 0.05 && 0.05 <= high) held += 1
    }
    expect(held).toBeGreaterThanOrEqual(185)
    // Each task is drawn 40 times on average, with a standard deviation of 5.7.
    expect([drawn.size, Math.min(...drawn.values()) > 15, Math.max(...drawn.values()) < 65]).toEqual([
      tasks,
      true,
      true,
    ])
  })
})

describe('the interval of Wilson', () => {
  // Newcombe (1998), table I.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
    [29, 29, 0.883, 1],
    [0, 0, 0, 1],
  ])('of %d in %d', (tasks, all, low, high) => {
    const [from, to] = wilsonInterval(tasks, all)
    expect([from.toFixed(4), to.toFixed(4)]).toEqual([low.toFixed(4), high.toFixed(4)])
  })
})

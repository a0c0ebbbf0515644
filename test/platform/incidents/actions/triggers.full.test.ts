// What triggers actions beside incidents: an invalid log and failed readings, once for each cause.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type ManifestsInGit,
  manifestPath,
  openManifestsInGit,
  refunds,
} from '../../../support/git/manifests-in-git.js'
import { deliveriesOf, makeAction } from '../../../support/http/actions.js'
import { checkpointOf, fast, logSteps, register } from '../../../support/log/log.js'
import { discard, startPlatform } from '../../../support/server/platform.js'
import { sharedPostgres } from '../../../support/server/postgres.js'
import { soon } from '../../../support/server/soon.js'

const postgres = await sharedPostgres()
/** No receiver: what is written is tested, not what is sent. */
const nowhere = { config: { url: 'http://127.0.0.1:9/' } }

describe('a failed reading', () => {
  let git: ManifestsInGit
  beforeAll(async () => {
    git = await openManifestsInGit()
  })
  afterAll(() => git.close())

  it('of a branch triggers once, until it has been read again', async () => {
    const { platform } = git
    const { action } = await makeAction(platform, { on: 'resync.failed', ...nowhere })
    const { id, repository } = await git.connect({ [manifestPath]: refunds([{ name: 'one' }]) })
    const resync = () => platform.call('POST', `/api/v1/repos/${id}/resync`)
    repository.git('branch', '-m', 'main', 'other')
    await resync()
    await resync()
    expect(await deliveriesOf(platform, action.id)).toMatchObject([
      { type: 'resync.failed', subject_kind: 'repository', subject_id: `repository_${id}` },
    ])
    repository.git('branch', '-m', 'other', 'main')
    await resync()
    repository.git('branch', '-m', 'main', 'other')
    await resync()
    expect(await deliveriesOf(platform, action.id)).toHaveLength(2)
  })
})

describe('a held version of a manifest', () => {
  let git: ManifestsInGit
  beforeAll(async () => {
    git = await openManifestsInGit()
  })
  afterAll(() => git.close())

  it('triggers once for each version', async () => {
    const { platform } = git
    const { action } = await makeAction(platform, { on: 'assignment.held', ...nowhere })
    const { id, repository } = await git.connect({
      [manifestPath]: refunds(['one', 'two', 'three'].map((name) => ({ name }))),
    })
    const { agent_id } = await git.register()
    const { body: made } = await git.assign(agent_id, id)
    const push = async (description: string) => {
      repository.commit({ [manifestPath]: refunds([{ name: 'one', description }]) })
      await git.tick(id)
    }
    await push('first')
    await git.tick(id)
    const { held_sha } = await git.read(made.id)
    expect(held_sha).not.toBe(null)
    expect(await deliveriesOf(platform, action.id)).toMatchObject([
      { type: 'assignment.held', subject_kind: 'assignment', subject_id: `assignment_${made.id}` },
    ])
    await push('another version, held for the same reason')
    expect(await deliveriesOf(platform, action.id)).toHaveLength(2)
  })
})

describe.skipIf(postgres === null)('an invalid log', () => {
  if (postgres === null) return

  it('triggers once, also after a restart', async () => {
    const url = postgres.freshDatabase()
    const first = await startPlatform({ database_url: url, env: fast })
    await register(first)
    const { action } = await makeAction(first, { on: 'log.invalid', ...nowhere })
    await logSteps(first, 'one', 3)
    await checkpointOf(first, 3 + 1)
    postgres.psql(url, `update log_leaves set leaf_hash = repeat('0', 64) where log_index = 3`)
    await logSteps(first, 'two', 3)
    const one = () => vi.waitFor(async () => expect(await deliveriesOf(first, action.id)).toHaveLength(1), soon)
    await one()
    const second = await first.restart()
    await logSteps(second, 'three', 3)
    const events = () => postgres.psql(url, `select count(*) from events where kind = 'log.fork_refused'`)
    await vi.waitFor(() => expect(Number(events())).toBeGreaterThan(1), soon)
    expect(await deliveriesOf(second, action.id)).toMatchObject([{ subject_kind: 'log' }])
    await discard(second)
  })
})

// Routes that no state table calls: each records its events when it changes something, and none when it changes nothing.
import type { EventList, Policy, View } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { manifestPath, refunds } from '../../support/git/manifests-in-git.js'
import { makeAction } from '../../support/http/actions.js'
import { type EventRow, eventRows } from '../../support/http/event-rows.js'
import { openStateSite, type StateSite } from '../../support/http/state-site.js'
import type { Subject } from '../../support/http/states.js'
import { join } from '../../support/people/people.js'
import { sharedPostgres } from '../../support/server/postgres.js'

describe('events of routes', () => {
  let site: StateSite
  const values: Record<string, string | number> = {}
  const callers: Record<string, Subject['callers']['default']> = {}
  const kindsAs = async (caller: string) => {
    const by = callers[caller === 'key' ? 'default' : caller === 'other' ? 'owner' : caller]
    const { body } = (await by?.<EventList>('GET', '/api/v1/events?limit=200')) ?? {}
    return (body?.events ?? []).map(({ kind }) => kind).reverse()
  }

  beforeAll(async () => {
    site = await openStateSite((await sharedPostgres())?.freshDatabase() ?? null)
    const { owner, other, org_id } = await site.pair()
    await join(owner, other, org_id, 'member')
    const { git } = site
    const agent = await git.register({ owner_id: 'o', purpose: 'p' })
    const { id: repo } = await git.connect({ [manifestPath]: refunds([{ name: 'amount' }]) })
    const second = await git.register()
    const { body: made } = await git.assign(second.agent_id, repo)
    const written = { name: 'amounts', rule_type: 'field_not_empty', params: { field: 'input.amount' } }
    const policy = { ...written, scope: 'step_execution', severity: 'low' }
    const { id: policy_id } = (await site.callers.default<Policy>('POST', '/api/v1/policies', policy)).body
    const { id: action } = (await makeAction(git.platform, { config: { url: site.receiver.url } })).action
    const view = { list: 'tasks', name: 'failed', query: 'status=error' }
    const { id: view_id } = (await site.callers.default<View>('POST', '/api/v1/views', view)).body
    const free = git.host.add('free.git')
    free.commit({ [manifestPath]: refunds([{ name: 'amount' }]) })
    Object.assign(callers, site.callers, { owner: owner.call, other: other.call })
    Object.assign(values, agent, { repo, assignment: made.id, org_id, person_id: other.id, email: other.email })
    Object.assign(values, { policy_id, action, view: view_id, receiver: site.receiver.url })
    Object.assign(values, { url: `${git.host.url}/free.git`, now: new Date(site.clock()).toISOString() })
  })
  afterAll(() => site.close())

  /** Calls the route; the kinds that it recorded. */
  async function recorded({ at, run = {} }: EventRow): Promise<string[]> {
    const { as = 'default', body, in: subject } = run
    const [method = '', path = ''] = at.split(' ')
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[subject ?? name]))
    const sent = JSON.stringify(body, (_, value) => values[/^\{(\w+)\}$/.exec(String(value))?.[1] ?? ''] ?? value)
    const before = await kindsAs(as)
    const answer = await callers[as]?.(method, filled, sent === undefined ? undefined : JSON.parse(sent))
    expect([at, answer?.status, answer?.body]).toEqual([at, expect.toSatisfy((one) => one < 300), expect.anything()])
    return (await kindsAs(as)).slice(before.length)
  }

  it.each(eventRows.filter(({ run }) => run !== undefined))('$at', async (row) => {
    expect((await recorded(row)).sort()).toEqual([...(row.events ?? [])].sort())
    if (row.again !== undefined) expect(await recorded(row)).toEqual(row.again)
  })
})

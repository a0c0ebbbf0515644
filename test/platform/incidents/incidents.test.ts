// The life cycle of an incident: every move from every state, and the effect of further violations in each state.
import type { Incident, IncidentList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a', owner_id: 'o', purpose: 'p' } })
})
afterAll(() => discard(platform))

let tasks = 0
/** A task with one violation; functions list its incidents and violate again. */
async function violated() {
  const task_id = `t${tasks++}`
  let step = 0
  const again = () =>
    platform.call('POST', '/api/v1/logs', {
      as: 'key',
      body: { task_id, step: ++step, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' },
    })
  const list = async () =>
    (await platform.call<IncidentList>('GET', `/api/v1/incidents?task_id=${task_id}`)).body.incidents
  await again()
  const [first] = await list()
  if (first === undefined) throw new Error('no incident')
  return { id: first.id, again, list }
}
const move = (id: string, name: string, body: unknown = name === 'ignore' ? { reason: 'known' } : { note: 'seen' }) =>
  platform.call<Incident & Problem>('POST', `/api/v1/incidents/${id}/${name}`, { body })

const toState: Record<string, string[]> = { open: [], active: ['review'], resolved: ['resolve'], ignored: ['ignore'] }
const expected: Record<string, Record<string, string | null>> = {
  open: { review: 'active', resolve: 'resolved', ignore: 'ignored', reactivate: null },
  active: { review: null, resolve: 'resolved', ignore: 'ignored', reactivate: null },
  resolved: { review: null, resolve: null, ignore: null, reactivate: 'active' },
  ignored: { review: null, resolve: null, ignore: null, reactivate: 'active' },
}
const rows = Object.entries(expected).flatMap(([state, moves]) =>
  Object.entries(moves).map(([name, to]) => ({ state, name, to })),
)

describe('an incident', () => {
  it.each(rows)('in state $state, after $name: $to', async ({ state, name, to }) => {
    const { id } = await violated()
    for (const before of toState[state] ?? []) await move(id, before)
    const { status, body } = await move(id, name)
    if (to === null) {
      expect([status, body.code]).toEqual([409, 'INVALID_TRANSITION'])
      expect(body.detail).toContain(`\`${state}\``)
    } else {
      expect([status, body.state]).toEqual([200, to])
      expect(body.history.at(-1)).toMatchObject({ from: state, to, by: 'operator:local' })
    }
  })

  it('that is open or active counts further violations', async () => {
    const { id, again, list } = await violated()
    await move(id, 'review')
    await again()
    expect(await list()).toMatchObject([{ id, state: 'active', occurrences: 2 }])
  })

  it('that is resolved is followed by a new one, and cannot be active beside it', async () => {
    const { id, again, list } = await violated()
    await move(id, 'resolve')
    await again()
    expect(await list()).toMatchObject([
      { state: 'open', occurrences: 1 },
      { id, state: 'resolved', occurrences: 1 },
    ])
    expect((await move(id, 'reactivate')).status).toBe(409)
  })

  it('that is ignored counts further violations', async () => {
    const { id, again, list } = await violated()
    await move(id, 'ignore')
    await again()
    expect(await list()).toMatchObject([{ id, state: 'ignored', occurrences: 2, note: 'known' }])
  })

  it('is read by its id with its history', async () => {
    const { id } = await violated()
    await move(id, 'review')
    await move(id, 'resolve')
    const { status, body } = await platform.call<Incident>('GET', `/api/v1/incidents/${id}`)
    expect([status, body.id, body.state, body.reviewed_by]).toEqual([200, id, 'resolved', 'operator:local'])
    expect(body.history).toMatchObject([
      { from: 'open', to: 'active', by: 'operator:local', note: 'seen' },
      { from: 'active', to: 'resolved', by: 'operator:local', note: 'seen' },
    ])
    const none = await platform.call<Problem>('GET', '/api/v1/incidents/inc_nothing')
    expect([none.status, none.body.code]).toEqual([404, 'NOT_FOUND'])
  })

  it('is ignored only with a reason and by a member', async () => {
    const { id } = await violated()
    expect((await move(id, 'ignore', {})).status).toBe(422)
    expect((await platform.call('POST', `/api/v1/incidents/${id}/resolve`, { as: 'key', body: {} })).status).toBe(403)
    expect((await move('inc_nothing', 'resolve')).status).toBe(404)
  })
})

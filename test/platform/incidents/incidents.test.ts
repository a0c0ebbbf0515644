// The life cycle of an incident: every move from every state, and the effect of further violations in each state.
import type {
  EventList,
  Incident,
  IncidentBulkAnswer,
  IncidentList,
  IncidentOccurrenceList,
  Problem,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

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
      const [asked = ''] = [{ review: 'active', resolve: 'resolved', ignore: 'ignored', reactivate: 'active' }[name]]
      for (const word of [state, asked]) expect(body.detail).toContain(`\`${word}\``)
      const possible = Object.entries(expected[state] ?? {}).filter(([, next]) => next !== null)
      for (const [name] of possible) expect(body.detail).toMatch(new RegExp(`possible now:.*\\b${name}\\b`))
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
    for (const body of [{}, { note: ' ' }, { reason: null }]) {
      const { status, body: problem } = await move(id, 'ignore', body)
      expect([status, problem.errors?.[0]?.path]).toEqual([422, 'reason'])
    }
    expect((await platform.call('POST', `/api/v1/incidents/${id}/resolve`, { as: 'key', body: {} })).status).toBe(403)
    expect((await move('inc_nothing', 'resolve')).status).toBe(404)
  })

  it.each([
    ['ignore', { note: 'known' }, 200, 'known'],
    ['ignore', { reason: 'known', note: 'known' }, 200, 'known'],
    ['resolve', { reason: 'done' }, 200, 'done'],
    ['resolve', { reason: null }, 200, null],
    ['resolve', { note: 'two\nlines\tand é' }, 200, 'two\nlines\tand é'],
    ['resolve', { note: 'x'.repeat(4000) }, 200, 'x'.repeat(4000)],
    ['resolve', { note: 'x'.repeat(4001) }, 422, null],
    ['resolve', { note: 'one', reason: 'another' }, 422, null],
    ['resolve', { note: 'a\u0000b' }, 422, null],
    ['resolve', { note: 'a\u202eb' }, 422, null],
    ['resolve', { note: 'a\u0085b' }, 422, null],
    ['resolve', { note: 1 }, 422, null],
    ['resolve', { remark: 'misspelt' }, 422, null],
  ] as const)('takes a note or a reason: %s %#', async (name, body, status, note) => {
    const { id } = await violated()
    const answer = await move(id, name, body)
    expect([answer.status, answer.body.note ?? null]).toEqual([status, note])
  })

  it.each([
    ['no body', undefined],
    ['an empty body', ''],
    ['an empty form, as curl -d sends it', ''],
  ])('takes %s where no text is required', async (what, raw) => {
    const { id } = await violated()
    const type = what.includes('form') ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
    const options = raw === undefined ? {} : { raw, headers: type }
    const answer = await platform.call<Incident>('POST', `/api/v1/incidents/${id}/review`, options)
    expect([answer.status, answer.body.state, answer.body.note]).toEqual([200, 'active', null])
    const ignored = await platform.call<Problem>('POST', `/api/v1/incidents/${id}/ignore`, options)
    expect(ignored.status).toBe(422)
  })

  it('takes notes in every state, with an event each, and keeps its state', async () => {
    const { id } = await violated()
    const note = (body: unknown) => platform.call<Incident & Problem>('POST', `/api/v1/incidents/${id}/notes`, { body })
    await note({ note: 'first' })
    await move(id, 'resolve', { note: 'done' })
    const { status, body } = await note({ note: 'later\nfound the cause' })
    expect([status, body.state, body.note]).toEqual([200, 'resolved', 'done'])
    expect(body.history).toMatchObject([
      { from: 'open', to: 'open', note: 'first', by: 'operator:local' },
      { from: 'open', to: 'resolved', note: 'done' },
      { from: 'resolved', to: 'resolved', note: 'later\nfound the cause' },
    ])
    const events = await platform.call<EventList>('GET', `/api/v1/events?subject=${id}&kind=incident.noted`)
    expect(events.body.events.map(({ data }) => data.note)).toEqual(['later\nfound the cause', 'first'])
    for (const wrong of [{}, { note: '' }, { note: '  ' }, { note: 'x'.repeat(4001) }, { note: 'a\u0007' }])
      expect((await note(wrong)).status).toBe(422)
    expect((await platform.call('POST', '/api/v1/incidents/inc_no/notes', { body: { note: 'x' } })).status).toBe(404)
  })

  it('lists its occurrences with their log entries, in pages', async () => {
    const { id, again } = await violated()
    await again()
    await again()
    const list = (query: string) =>
      platform.call<IncidentOccurrenceList>('GET', `/api/v1/incidents/${id}/occurrences${query}`)
    const { body } = await list('')
    expect(body).toMatchObject({ total: 3, next_cursor: null })
    const entry = {
      is_evaluated: true,
      is_reported: false,
      evaluation_id: null,
      log_id: expect.stringMatching(/^log_/),
    }
    expect(body.occurrences).toMatchObject([1, 2, 3].map((number) => ({ number, step: number, ...entry })))
    const first = await list('?limit=2')
    const rest = await list(`?limit=2&cursor=${first.body.next_cursor}`)
    expect([...first.body.occurrences, ...rest.body.occurrences]).toEqual(body.occurrences)
    expect((await platform.call('GET', '/api/v1/incidents/inc_no/occurrences')).status).toBe(404)
  })
})

describe('a bulk move', () => {
  const bulk = (body: unknown) =>
    platform.call<IncidentBulkAnswer & Problem>('POST', '/api/v1/incidents/bulk', { body })

  it('gives each incident its own result, in order, across transactions', async () => {
    const all = await Promise.all(Array.from({ length: 25 }, () => violated()))
    const ids = all.map(({ id }) => id)
    await move(ids[3] ?? '', 'resolve')
    const { status, body } = await bulk({ action: 'review', ids: [...ids, 'inc_no', ids[0]], note: 'a campaign' })
    expect(status).toBe(200)
    expect(body.results.map(({ id }) => id)).toEqual([...ids, 'inc_no', ids[0]])
    expect(body.results.map((result) => result.status)).toEqual([
      ...ids.map((_, index) => (index === 3 ? 409 : 200)),
      404,
      409,
    ])
    expect(body.results[3]?.problem?.code).toBe('INVALID_TRANSITION')
    expect(body.results[24]?.incident).toMatchObject({ id: ids[24], state: 'active', note: 'a campaign' })
  })

  it.each([
    [{ action: 'ignore', ids: ['inc_no'] }, 'reason'],
    [{ action: 'delete', ids: ['inc_no'] }, 'action'],
    [{ action: 'review', ids: [] }, 'ids'],
    [{ action: 'review', ids: Array.from({ length: 201 }, () => 'inc_no') }, 'ids'],
    [{ ids: ['inc_no'] }, 'action'],
  ])('is rejected as a whole: %#', async (body, path) => {
    const answer = await bulk(body)
    expect([answer.status, answer.body.errors?.[0]?.path]).toEqual([422, path])
  })
})

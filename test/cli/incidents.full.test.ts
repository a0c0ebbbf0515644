// `svc incidents`, `svc incident` and `svc policies` as a member uses them: what one prints is what one runs next.
import type { IncidentList } from '@svc/schemas'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LoggedIn, openLoggedIn } from '../support/people/logged-in.js'

let member: LoggedIn
beforeAll(async () => {
  member = await openLoggedIn()
  const { platform, key: as } = member
  await platform.call('POST', '/api/v1/agents', { as, body: { agent_key: 'desk', owner_id: 'o', purpose: 'p' } })
  const step = { task_id: 't', step: 1, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' }
  expect((await platform.call('POST', '/api/v1/logs', { as, body: step })).status).toBe(201)
})
afterAll(() => member.close())

const svc = (...args: string[]) => member.svc(...args)

it('incidents are listed and moved', async () => {
  const listed = await svc('incidents', '--min-severity', 'critical')
  const row = /^ID .*\n(inc_\S+) +open +critical +1 +executed +\S+Z +desk +t +Code runs only after a gate\n$/.exec(
    listed,
  )
  const id = row?.[1] ?? listed
  expect(await svc('incident', 'show', id)).toMatch(/^id +inc_\S+\nstate +open\n(.*\n)*effect +1 executed\n/)
  expect(await svc('incidents', '--effect', 'blocked')).toBe('no incident matches\n')
  expect(await svc('incident', 'review', id)).toBe(`${id}: active\n`)
  expect(await svc('incident', 'note', id, '--note', 'asked the owner')).toBe(`${id}: active\n`)
  expect(await svc('incident', 'review', id)).toMatch(/^1 svc: cannot review an incident that is `active`: .*resolve/)
  expect(await svc('incident', 'resolve', id, '--note', 'mended')).toBe(`${id}: resolved\n`)
  expect(await svc('incidents', '--task', 't', '--min-severity', 'critical')).toBe('no incident matches\n')
  const { incidents } = JSON.parse(await svc('incidents', '--state', 'resolved', '--json')) as IncidentList
  expect(incidents[0]?.history.map(({ note }) => note)).toEqual([null, 'asked the owner', 'mended'])
  expect(await svc('incidents', '--policy', String(incidents[0]?.policy_id), '--state', 'open')).toMatch(/^no incident/)
  expect(await svc('policies')).toMatch(
    /^ID .*\n(.*\n)*\d+ +critical +enforce +\S+ +\S+ +Code runs only after a gate\n/,
  )
})

it.each([
  [['incident', 'ignore', 'inc_1'], /^2 svc: `ignore` needs a text: add `--note "…"`/],
  [['incident', 'close', 'inc_1'], /^2 error: .*Allowed choices are show, review, resolve, ignore, reactivate, note/],
  [['incident', 'resolve', 'inc_1'], /^1 svc: this incident does not exist/],
  [['incidents', '--state', 'closed'], /^1 svc: .*must be one or more of open, active, resolved, ignored/],
  [['incidents', '--effect', 'ran'], /^2 error: .*Allowed choices are blocked, executed, unknown/],
  [['incidents', '--min-severity', 'High'], /^2 error: .*Allowed choices are low, medium, high, critical/],
])('%j is explained', async (args, expected) => {
  expect(await svc(...args)).toMatch(expected)
})

// `svc stop`, `svc stops` and `svc resume` as a member uses them in an emergency: what one prints is what one runs next.
import type { Stop } from '@svc/schemas'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LoggedIn, openLoggedIn } from '../support/people/logged-in.js'

let member: LoggedIn
beforeAll(async () => {
  member = await openLoggedIn()
  const { platform, key: as } = member
  for (const agent_key of ['desk', 'night']) await platform.call('POST', '/api/v1/agents', { as, body: { agent_key } })
})
afterAll(() => member.close())

const svc = (...args: string[]) => member.svc(...args)

it('agents are stopped and resumed', async () => {
  const stopped = await svc('stop', '--agent', 'desk', '--reason', 'wrong accounts')
  expect(stopped).toMatch(/^stopped: agent ag_[0-9a-f]{32}, 1 agent; their next step is blocked\n/)
  const resume = /resume with: npx --no-install svc (resume stp_\S+)\n/.exec(stopped)?.[1] ?? ''
  const all = JSON.parse(await svc('stop', '--workspace', '--reason', 'leak', '--json')) as Stop
  expect([all.target.kind, all.agents]).toEqual(['workspace', 2])
  expect(await svc('stops')).toMatch(
    /^ID .*\nstp_\S+ +stopped +2 +0 +the workspace .* leak\nstp_\S+ +stopped +1 +0 +agent .* wrong accounts\n$/,
  )
  expect(await svc(...resume.split(' '))).toMatch(/^resumed: 1 agent\nthe stop has ended; another stop may still block/)
  expect(await svc(...resume.split(' '))).toMatch(/^1 svc: cannot resume a stop that is `resumed`/)
  expect(await svc('resume', all.id, '--agents', 'night', '--note', 'checked')).toMatch(
    /^resumed: 1 agent\n1 agent still stopped; resume the rest with: npx --no-install svc resume stp_/,
  )
  expect(await svc('resume', all.id, '--percent', '100')).toMatch(/^resumed: 1 agent\n/)
  expect(await svc('stops')).toBe('no stop is on\n')
  expect(await svc('stops', '--all')).toContain(all.id)
})

it.each([
  [['stop', '--reason', 'x'], /^2 svc: name one target: .*nothing is stopped yet/],
  [['stop', '--workspace', '--agent', 'desk', '--reason', 'x'], /^2 svc: name one target/],
  [['stop', '--workspace'], /^2 error: required option '--reason <text>'/],
  [['stop', '--agent', 'dusk', '--reason', 'x'], /^1 svc: no agent has this `agent_key`/],
  [['resume', 'stp_1'], /^1 svc: this stop does not exist/],
  [['resume', 'stp_1', '--percent', '0'], /^2 svc: `--percent` is `0`: write a whole number from 1 to 100/],
])('%j is rejected', async (args, says) => {
  expect(await svc(...args)).toMatch(says)
})

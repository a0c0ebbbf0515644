// One step that violates several policies: its incidents are shown together, and one answer resolves them.
import type { Incident, IncidentList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerAgent, violate } from '../../support/http/actions.js'
import { hrefsIn, startTeam, type Team } from '../../support/people/pages.js'

const names = ['a refund has an amount', 'a refund has a reason', 'a refund has a customer']
let team: Team
/** Of the step, the most severe first. */
let opened: readonly Incident[]
beforeAll(async () => {
  team = await startTeam()
  await registerAgent(team.platform)
  for (const [index, severity] of ['low', 'critical', 'high'].entries())
    await call('POST', '/api/v1/policies', {
      name: names[index],
      rule_type: 'field_not_empty',
      scope: 'step_execution',
      severity,
      params: { field: 'input.amount', target_step_names: ['refund'] },
    })
  const step = { task_id: 'triple', timestamp: '2026-01-05T09:00:00Z', step_type: 'step.resource', verb: 'GET' }
  for (const [number, step_name] of [
    [1, 'refund'],
    [2, 'look'],
  ])
    await team.platform.call('POST', '/api/v1/logs', { as: 'key', body: { ...step, step: number, step_name } })
  opened = await listed('task_id=triple&step=1&order=severity')
})
afterAll(() => team.close())

const call = <T>(method: string, path: string, body?: unknown) =>
  team.platform.call<T>(method, path, body === undefined ? {} : { body })
const listed = async (query: string) => (await call<IncidentList>('GET', `/api/v1/incidents?${query}`)).body.incidents
const resolve = '/incidents/resolve?task_id=triple&step=1'

describe('incidents of one step', () => {
  it('are listed by its number, in one task or in all', async () => {
    const ofStep = opened.filter(({ policy_name }) => names.includes(policy_name))
    expect(ofStep.map(({ severity }) => severity)).toEqual(['critical', 'high', 'low'])
    expect(await listed('task_id=triple&step=2')).toEqual([])
    await violate(team.platform, 'single')
    const all = (await listed('step=1')).map(({ task_id }) => task_id)
    expect([all.includes('single'), all.includes('triple')]).toEqual([true, true])
    const { status, body } = await call<Problem>('GET', '/api/v1/incidents?step=first')
    expect([status, body.errors.map(({ path }) => path)]).toEqual([422, ['step']])
  })

  it('lead to each other, and to the answer of all of them', async () => {
    const [first, ...others] = opened
    const { text } = await team.look(`/incidents/${first?.id}`)
    expect(text).toContain(`${others.length} other open incidents of this step`)
    for (const { id } of others) expect(hrefsIn(text)).toContain(`/incidents/${id}`)
    expect(text).toContain(`Resolve all ${opened.length} of this step…`)
    expect(hrefsIn(text)).toContain(resolve)
    const seen = (await team.look(`/incidents/${first?.id}`, 'auditor')).text
    expect([seen.includes('other open incidents of this step'), seen.includes('/incidents/resolve')]).toEqual([
      true,
      false,
    ])
  })

  it('are resolved together, after a page that names them', async () => {
    const { text } = await team.look(resolve)
    expect(text).toContain(`Resolve ${opened.length} incidents?`)
    expect(text).toContain('These incidents were opened by step 1 of the task triple.')
    const selected = [...text.matchAll(/name="selected" value="([^"]+)"/g)].map(([, id = '']) => id)
    expect(selected).toEqual(opened.map(({ id }) => id))
    const done = await team.press(resolve, { act: 'move', move: 'resolve', selected, note: 'repaid' })
    expect([done.status, done.location]).toEqual([303, '/incidents?task_id=triple&step=1'])
    expect((await listed('task_id=triple&step=1')).map(({ state }) => state)).toEqual(opened.map(() => 'resolved'))
    const alone = (await team.look(`/incidents/${opened[0]?.id}`)).text
    expect(alone).not.toContain('of this step')
  })
})

describe('a row that names a violated policy', () => {
  const pages = ({ agent_id, id }: Incident) => [
    '/',
    '/incidents?state=resolved',
    '/incidents/groups',
    `/incidents/${id}`,
    `/agents/${agent_id}`,
    '/tasks/triple?view=full',
    '/search?q=a refund has',
    '/incidents/resolve?task_id=single',
  ]

  it('says that it was violated, and why, on every page', async () => {
    const [first] = opened
    if (first === undefined) throw new Error('no incident was opened')
    for (const path of pages(first)) {
      const { status, text } = await team.look(path)
      const of = path.includes('single') ? ((await listed('task_id=single'))[0] as Incident) : first
      expect([path, status]).toEqual([path, 200])
      expect([path, text.includes(`Violated: ${of.policy_name}`)]).toEqual([path, true])
      const [word = ''] = of.violation_details.reason.split('`').filter((part) => part.length > 8)
      expect([path, text.includes(word)]).toEqual([path, true])
    }
  })

  it('shows code of the reason as code, and nothing of it as HTML', async () => {
    const { text } = await team.look(`/incidents/${opened[0]?.id}`)
    expect(text).toContain('<code>input.amount</code>')
  })
})

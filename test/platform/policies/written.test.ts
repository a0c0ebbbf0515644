// Policies written by the API: whom they reach, how they change, and what the log and the audit trail hold of them.
import type { Policy, Problem } from '@svc/schemas'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { amounts, atMost, policyCalls } from '../../support/http/written-policies.js'
import { fast } from '../../support/log/log.js'
import { expectEqualVerdicts } from '../../support/log/rejudge.js'
import { startMailServer } from '../../support/people/mail.js'
import { signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
let platform: TestPlatform
const { create, created, get, change, move, remove, list, events, register, incidents, refund, evaluate, effective } =
  policyCalls(() => platform)
let desk = ''
let lab = ''
beforeAll(async () => {
  platform = await startPlatform({ env: fast })
  desk = (await register('desk', { risk_classification: 'limited' })).agent_id
  lab = (await register('lab', { risk_classification: 'high' })).agent_id
})
afterAll(() => discard(platform))
afterEach(async () => {
  for (const { id } of await list('source=hand')) await remove(id)
})

describe('a policy that is written', () => {
  it.each([
    ['all agents', {}, ['desk', 'lab']],
    ['one agent', { agent: 'desk' }, ['desk']],
    ['agents of one level', { risk_classification: 'limited' }, ['desk']],
    ['agents of exactly that level', { risk_classification: 'minimal' }, []],
    ['one agent at its level', { agent: 'lab', risk_classification: 'high' }, ['lab']],
    ['one agent at another level', { agent: 'lab', risk_classification: 'limited' }, []],
  ])(
    'reaches %s at once',
    async (_, { agent, ...target }: { readonly agent?: string; readonly risk_classification?: string }, reached) => {
      const ids: Record<string, string> = { desk, lab }
      const before = await effective('desk')
      expect((await effective('desk', before.etag)).status).toBe(304)
      const agent_id = agent === undefined ? null : ids[agent]
      await created({ ...amounts, ...target, agent_id })
      const changed = (await effective('desk', before.etag)).status === 200
      expect(changed).toBe(reached.includes('desk'))
      for (const [key, id] of Object.entries(ids)) {
        const names = reached.includes(key) ? [amounts.name] : []
        expect([key, (await effective(key)).names]).toEqual([key, names])
        const task = `${key} ${JSON.stringify(target)} ${agent}`
        expect([key, await evaluate(id, task)]).toEqual([key, names])
        expect([key, await refund(id, task)]).toEqual([key, names])
      }
    },
  )

  it('evaluates the whole history of a running task', async () => {
    expect(await refund(desk, 'running', 50)).toEqual([])
    const { id, name } = await created(atMost(40))
    expect(await refund(desk, 'running')).toEqual([name])
    expect(await refund(desk, 'later', 3)).toEqual([])
    expect(await incidents(id)).toMatchObject([{ policy_name: name, severity: 'high', occurrences: 1, state: 'open' }])
  })

  it('evaluates registrations from the next one on', async () => {
    const rule = { rule_type: 'field_in_list', params: { field: 'owner_id', values: ['mia'] } }
    const { name } = await created({ ...amounts, ...rule, name: 'Mia owns it', scope: 'agent_registration' })
    const { violations } = await register('desk', { owner_id: 'kim' })
    expect(violations.map((one) => one.name)).toContain(name)
    expect((await register('desk', { owner_id: 'mia' })).violations.map((one) => one.name)).not.toContain(name)
  })

  it('for one level follows the level in effect, not the declared one', async () => {
    const { agent_id } = await register('lowered', { risk_classification: 'high' })
    const [high, minimal] = [
      await created({ ...amounts, name: 'high', risk_classification: 'high' }),
      await created({ ...amounts, name: 'minimal', risk_classification: 'minimal' }),
    ]
    await register('lowered', { risk_classification: 'minimal' })
    expect([await refund(agent_id, 'waits'), (await effective('lowered')).names]).toEqual([[high.name], [high.name]])
    await platform.call('POST', `/api/v1/agents/${agent_id}/confirm`, { body: { risk_classification: 'minimal' } })
    expect([await refund(agent_id, 'waits'), (await effective('lowered')).names]).toEqual([
      [minimal.name],
      [minimal.name],
    ])
  })

  it('changes with a version, an event and its definition in the log', async () => {
    const { id, version } = await created(amounts)
    const changed = await change(id, { severity: 'critical', description: 'why', mode: 'observe' })
    expect(changed.body).toMatchObject({ id, version: version + 1, severity: 'critical', description: 'why' })
    expect(changed.headers.get('etag')).toBe(`"${version + 1}"`)
    expect((await change(id, { description: null, parameters: { field: 'input.to' } })).body).toMatchObject({
      version: version + 2,
      description: null,
      params: { field: 'input.to' },
    })
    const found = await events(id)
    expect(found.map(({ kind }) => kind)).toEqual(['policy.created', 'policy.updated', 'policy.updated'])
    expect(found[1]?.data).toMatchObject({
      version: version + 1,
      changes: { severity: { from: 'high', to: 'critical' }, mode: { from: 'enforce', to: 'observe' } },
      policy: { severity: 'critical', params: amounts.params },
    })
    expect(found[0]?.data).toMatchObject({ policy: amounts, agent_id: null })
  })

  it('does not change by a request that changes nothing', async () => {
    const { id } = await created({ ...amounts, controls: ['ASI01'] })
    const { body } = await get(id)
    for (const same of [{}, { severity: 'high' }, { ...body }, { name: null, enabled: null }, { enabled: true }])
      expect(await change(id, same)).toMatchObject({ status: 200, body: { version: 1 } })
    expect((await move(id, 'enable')).body.version).toBe(1)
    expect((await events(id)).length).toBe(1)
    const answer = await change(id, { version: 5, rule_type: 'field_not_emty', severity: 'urgent' })
    expect([answer.status, answer.body.errors.map(({ path }) => path).sort()]).toEqual([
      422,
      ['rule_type', 'severity', 'version'],
    ])
  })

  it('is disabled and enabled, both at once and any number of times', async () => {
    const { id, name } = await created(amounts)
    for (const version of [2, 2]) expect((await move(id, 'disable')).body).toMatchObject({ enabled: false, version })
    expect([await refund(desk, 'off'), await evaluate(desk, 'off'), (await effective('desk')).names]).toEqual([
      [],
      [],
      [],
    ])
    for (const version of [3, 3]) expect((await move(id, 'enable')).body).toMatchObject({ enabled: true, version })
    expect(await refund(desk, 'off')).toEqual([name])
    expect((await change(id, { enabled: false })).body).toMatchObject({ enabled: false, version: 4 })
    const kinds = ['policy.created', 'policy.disabled', 'policy.enabled', 'policy.disabled']
    expect((await events(id)).map(({ kind }) => kind)).toEqual(kinds)
  })

  it('is not changed by a caller who read another version', async () => {
    const { id } = await created(amounts)
    const read = (await get(id)).headers.get('etag') ?? ''
    expect((await change(id, { severity: 'low' }, { 'if-match': read })).status).toBe(200)
    for (const answer of [
      await change(id, { severity: 'high' }, { 'if-match': read }),
      await move(id, 'disable', { 'if-match': '1' }),
      await remove(id, { 'if-match': 'W/"1"' }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([412, 'PRECONDITION_FAILED'])
      expect(answer.body.detail).toContain('`If-Match: "2"`')
    }
    expect((await change(id, { severity: 'high' }, { 'if-match': 'mine' })).status).toBe(422)
    expect((await remove(id, { 'if-match': '"1", "2"' })).status).toBe(200)
  })

  it('is deleted for good, and stays readable', async () => {
    const { id } = await created(amounts)
    await refund(desk, 'deleted')
    expect((await remove(id)).body).toMatchObject({ id, deleted_at: expect.any(String), enabled: false })
    expect([await refund(desk, 'deleted'), (await effective('desk')).names]).toEqual([[], []])
    expect((await list('source=hand')).map((one) => one.id)).not.toContain(id)
    expect((await list('deleted=true')).map((one) => one.id)).toContain(id)
    expect((await get(id)).body).toMatchObject({ deleted_at: expect.any(String), name: amounts.name })
    expect(await incidents(id)).toMatchObject([{ policy_id: id, policy_name: amounts.name }])
    for (const [verb, answer] of [
      ['change', await change(id, { severity: 'low' })],
      ['enable', await move(id, 'enable')],
      ['disable', await move(id, 'disable')],
      ['delete', await remove(id)],
    ] as const) {
      expect([answer.status, answer.body.code]).toEqual([409, 'INVALID_TRANSITION'])
      expect(answer.body.detail).toContain(`cannot ${verb} a policy that is \`deleted\`: its state must be \`enabled\``)
    }
    expect((await events(id)).at(-1)).toMatchObject({
      kind: 'policy.deleted',
      data: { policy: { ...amounts, enabled: true } },
    })
  })

  it.each([
    ['q=AMOUNT', true],
    ['q=nothing', false],
    ['source=manifest', false],
    ['mode=observe', true],
    ['mode=enforce', false],
    ['severity=high&rule_type=field_not_empty&risk_classification=limited&scope=step_execution&enabled=true', true],
    ['risk_classification=minimal', false],
    ['rule_type=not', false],
    ['manifest_id=man_none', false],
    ['deleted=true', false],
    ['deleted=false', true],
  ])('is found by the filter %s: %s', async (query, found) => {
    const { id } = await created({ ...amounts, mode: 'observe', risk_classification: 'limited' })
    expect((await list(query)).some((one) => one.id === id)).toBe(found)
  })

  it('is seen by its workspace only', async () => {
    if (postgres === null) return
    const mails = await startMailServer()
    const url = platform.env.SVC_DATABASE_URL ?? null
    const both = await startPlatform({ database_url: url, env: { SVC_SMTP_URL: mails.url } })
    try {
      const { id } = await created({ ...amounts, agent_id: desk })
      const mia = await signedIn(both, mails, 'mia@example.org')
      const path = `/api/v1/policies/${id}`
      const bodies: [string, string, object?][] = [
        ['GET', path],
        ['PATCH', path, { severity: 'low' }],
        ['DELETE', path],
        ['POST', `${path}/enable`],
        ['POST', `${path}/disable`],
      ]
      for (const [method, at, body] of bodies)
        expect([method, (await mia.call(method, at, body)).status]).toEqual([method, 404])
      const foreign = await mia.call<Problem>('POST', '/api/v1/policies', { ...amounts, agent_id: desk })
      expect([foreign.status, foreign.body.errors]).toMatchObject([422, [{ path: 'agent_id' }]])
      const own = await mia.call<Policy>('POST', '/api/v1/policies', amounts)
      expect(own.body.id).toBe(1)
      expect((await effective('desk')).names).toEqual([amounts.name])
    } finally {
      await both.close()
      await mails.close()
    }
  })

  it('is evaluated again from a bundle with the same verdicts, in each of its versions', async () => {
    const { id } = await created(amounts)
    await refund(desk, 'versions')
    await change(id, { severity: 'critical' })
    await refund(desk, 'versions')
    await move(id, 'disable')
    await refund(desk, 'versions')
    expect((await expectEqualVerdicts(platform)).steps).toBeGreaterThan(60)
  })

  it('is not written by an API key', async () => {
    expect((await create(amounts, 'key')).status).toBe(403)
  })
})

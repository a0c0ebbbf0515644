// The states of policies on both databases: every change from every state, and concurrent ones, which leave one winner.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PolicyMove, type PolicyState, policyMoves } from '../../../platform/policies/commands/write-policy.js'
import { discard, startPlatform, type TestPlatform } from '../../support/platform.js'
import { sharedPostgres } from '../../support/postgres.js'
import { amounts, type PolicyAnswer, policyCalls } from '../../support/written-policies.js'

const postgres = await sharedPostgres()

describe.each(['pglite', 'postgresql'])('on %s, a policy', (kind) => {
  if (kind === 'postgresql' && postgres === null) return it.skip('needs a server', () => undefined)
  let platform: TestPlatform
  const { created, change, move, remove, get, events } = policyCalls(() => platform)
  beforeAll(async () => {
    platform = await startPlatform(kind === 'pglite' ? { database_url: null } : {})
  })
  afterAll(() => discard(platform))

  const moves: Record<PolicyMove, (id: number, headers?: object) => Promise<PolicyAnswer>> = {
    change: (id, headers) => change(id, { severity: 'low' }, headers),
    enable: (id, headers) => move(id, 'enable', headers),
    disable: (id, headers) => move(id, 'disable', headers),
    delete: (id, headers) => remove(id, headers),
  }
  const inState = async (state: PolicyState) => {
    const { id } = await created(amounts)
    if (state === 'disabled') await move(id, 'disable')
    if (state === 'deleted') await remove(id)
    return id
  }
  const states: readonly PolicyState[] = ['enabled', 'disabled', 'deleted']
  const all = states.flatMap((state) => (Object.keys(moves) as PolicyMove[]).map((verb) => ({ state, verb })))

  it.each(all)('that is $state: $verb', async ({ state, verb }) => {
    const id = await inState(state)
    const { status, body } = await moves[verb](id)
    if (policyMoves[verb].from.some((possible) => possible === state)) return expect(status).toBe(200)
    expect([status, body.code]).toEqual([409, 'INVALID_TRANSITION'])
    for (const words of [verb, `\`${state}\``, '`enabled` or `disabled`']) expect(body.detail).toContain(words)
  })

  it('is deleted by one of many', async () => {
    const id = await inState('enabled')
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove(id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
    expect((await events(id)).map(({ kind: event }) => event)).toEqual(['policy.created', 'policy.deleted'])
  })

  it('is changed by one of many who read the same version', async () => {
    const id = await inState('enabled')
    const severities = ['low', 'medium', 'critical', 'low', 'medium', 'critical']
    const answers = await Promise.all(severities.map((severity) => change(id, { severity }, { 'if-match': '"1"' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(412)])
    const winner = answers.find(({ status }) => status === 200)
    expect((await get(id)).body).toMatchObject({ version: 2, severity: winner?.body.severity })
  })

  it('is switched once by many, and has one version for each change', async () => {
    const id = await inState('enabled')
    const off = await Promise.all(Array.from({ length: 6 }, () => move(id, 'disable')))
    expect(off.map(({ status, body }) => [status, body.version])).toEqual(Array(6).fill([200, 2]))
    const mixed = [
      ...Array.from({ length: 5 }, (_, index) => () => change(id, { description: `d${index}` })),
      ...Array.from({ length: 5 }, (_, index) => () => move(id, index % 2 === 0 ? 'enable' : 'disable')),
      () => remove(id),
    ]
    await Promise.all(mixed.map((one) => one()))
    const found = await events(id)
    expect(found.at(-1)?.kind).toBe('policy.deleted')
    const versions = found.map(({ data }) => (data as { version: number }).version)
    expect(versions).toEqual(versions.map((_, index) => index + 1))
    expect((await get(id)).body.version).toBe(versions.length)
  })
})

// Concurrent changes of policies on both databases: one version for each, and none is lost (moves: test/cases/states).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { amounts, policyCalls } from '../../support/http/written-policies.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

describe.each(['pglite', 'postgresql'])('on %s, a policy', (kind) => {
  if (kind === 'postgresql' && postgres === null) return it.skip('needs a server', () => undefined)
  let platform: TestPlatform
  const { created, change, move, remove, get, events } = policyCalls(() => platform)
  beforeAll(async () => {
    platform = await startPlatform(kind === 'pglite' ? { database_url: null } : {})
  })
  afterAll(() => discard(platform))

  it('is changed by one of many who read the same version', async () => {
    const { id } = await created(amounts)
    const severities = ['low', 'medium', 'critical', 'low', 'medium', 'critical']
    const answers = await Promise.all(severities.map((severity) => change(id, { severity }, { 'if-match': '"1"' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(412)])
    const winner = answers.find(({ status }) => status === 200)
    expect((await get(id)).body).toMatchObject({ version: 2, severity: winner?.body.severity })
  })

  it('is switched once by many, and has one version for each change', async () => {
    const { id } = await created(amounts)
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

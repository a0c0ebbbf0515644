// Concurrent moves and reports, on both databases and from two processes of one database: one winner, one count.
import type { Incident, IncidentList, IncidentOccurrenceList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
const kinds = ['one process, embedded', 'one process, server', 'two processes, server'] as const

describe.each(kinds)('concurrent requests to %s', (kind) => {
  if (kind !== 'one process, embedded' && postgres === null) return it.skip('needs a server', () => undefined)
  let platforms: TestPlatform[]
  beforeAll(async () => {
    const database_url = kind === 'one process, embedded' ? null : (postgres?.freshDatabase() ?? null)
    const env = {
      SVC_OPERATOR_TOKEN: 'operator-token-of-both-processes-1',
      SVC_SEED_API_KEY: `SvcKey-${'k'.repeat(43)}`,
    }
    platforms = [await startPlatform({ database_url, env })]
    if (kind === 'two processes, server') platforms.push(await startPlatform({ database_url, env }))
    const body = { agent_key: 'a', owner_id: 'o', purpose: 'p' }
    await any(0).call('POST', '/api/v1/agents', { as: key, body })
  })
  afterAll(async () => {
    for (const platform of platforms) await discard(platform)
  })
  const key = `SvcKey-${'k'.repeat(43)}`
  const any = (index: number) => platforms[index % platforms.length] as TestPlatform
  const log = (index: number, task_id: string, step: number, meta: object = {}) =>
    any(index).call<{ violations: { policy_id: number }[] }>('POST', '/api/v1/logs', {
      as: key,
      body: { agent_key: 'a', task_id, step, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z', meta },
    })
  const incidentsOf = async (task_id: string) =>
    (await any(0).call<IncidentList>('GET', `/api/v1/incidents?task_id=${task_id}`)).body.incidents

  it('move an incident once', async () => {
    for (const [round, moves] of [
      ['review', 'review', 'review', 'review', 'review', 'review'],
      ['resolve', 'ignore', 'resolve', 'ignore', 'resolve', 'ignore'],
    ].entries()) {
      const task_id = `move-${round}`
      await log(0, task_id, 1)
      const [incident] = await incidentsOf(task_id)
      const answers = await Promise.all(
        moves.map((move, index) =>
          any(index).call<Incident>('POST', `/api/v1/incidents/${incident?.id}/${move}`, {
            body: { note: `${index}` },
          }),
        ),
      )
      const won = answers.filter(({ status }) => status === 200)
      expect([won.length, answers.filter(({ status }) => status === 409).length]).toEqual([1, moves.length - 1])
      const after = (await any(0).call<Incident>('GET', `/api/v1/incidents/${incident?.id}`)).body
      expect([after.history.length, after.state]).toEqual([1, won[0]?.body.state])
    }
  })

  it('count reports and the steps that they are of once', async () => {
    const task_id = 'reported'
    const { policy_id } = (await log(0, 'probe', 1)).body.violations[0] ?? {}
    const report = (index: number, step: number) =>
      any(index).call<{ incident_id: string }>('POST', '/api/v1/incidents', {
        as: key,
        body: { policy_id, agent_key: 'a', task_id, step, evaluation_id: `e${step}` },
      })
    const steps = Array.from({ length: 10 }, (_, index) => index + 1)
    const answers = await Promise.all(
      steps.flatMap((step) => [
        report(step, step),
        log(step + 1, task_id, step, step % 2 === 0 ? { 'svc.eval': { evaluation_id: `e${step}` } } : {}),
        report(step + 1, step),
      ]),
    )
    expect(answers.map(({ status }) => status).filter((status) => status > 201)).toEqual([])
    const [incident, ...others] = (await incidentsOf(task_id)).filter((one) => one.policy_id === policy_id)
    expect([incident?.occurrences, others]).toEqual([10, []])
    const list = await any(1).call<IncidentOccurrenceList>('GET', `/api/v1/incidents/${incident?.id}/occurrences`)
    expect(list.body.occurrences.map(({ step }) => step).toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual(steps)
    for (const occurrence of list.body.occurrences)
      expect(occurrence).toMatchObject({ is_evaluated: true, is_reported: true, evaluation_id: `e${occurrence.step}` })
  })
})

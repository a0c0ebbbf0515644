// Documents of settings that are applied at once, on both databases: each is applied whole, one after the other.
import type { MadeAction, Retention, SettingsComparison, SettingsResult, ViewList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

describe.each(['postgresql', 'pglite'] as const)('documents of settings on %s', (kind) => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startPlatform(kind === 'pglite' ? { database_url: null } : {})
  })
  afterAll(() => discard(platform))

  const textOf = (n: number) => {
    const hook = { kind: 'webhook', on: 'log.invalid', config: { url: `https://r${n}.example.org/` } }
    return stringify({
      version: 1,
      retention: { retention_days: 400 + n },
      actions: ['one', 'two'].map((name) => ({ name, ...hook })),
      views: [{ list: 'agents', name: 'mine', query: `q=t${n}` }],
    })
  }
  const post = <T>(verb: string, body: object) => platform.call<T>('POST', `/api/v1/settings/${verb}`, { body })

  it('are applied whole when many arrive at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => post<SettingsResult>('apply', { text: textOf(n) })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(answers.flatMap(({ body }) => body.made)).toHaveLength(2)
    const { retention_days } = (await platform.call<Retention>('GET', '/api/v1/retention')).body
    const last = retention_days - 400
    const path = '/api/v1/actions'
    const { actions } = (await platform.call<{ actions: MadeAction['action'][] }>('GET', path)).body
    expect(actions.map(({ config }) => config.url)).toEqual(Array(2).fill(`https://r${last}.example.org/`))
    const { views } = (await platform.call<ViewList>('GET', '/api/v1/views?list=agents')).body
    expect(views.map(({ query }) => query)).toEqual([`q=t${last}`])
  })

  it('are applied by one of two people who were shown the same workspace', async () => {
    const texts = [textOf(20), textOf(21)]
    const shown = await Promise.all(texts.map((text) => post<SettingsComparison>('compare', { text })))
    const answers = await Promise.all(
      texts.map((text, index) => post('apply', { text, digest: shown[index]?.body.digest })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
  })
})

// Slow cases of the local engine: slow callers, and more tasks than the maximum.
import { connect } from 'node:net'
import type { Evaluation } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'

let serve: Serve
beforeAll(async () => {
  serve = await startServe(['--baseline', '--log-location', 'none'])
})
afterAll(() => serve.discard())

describe.concurrent('a slow caller', () => {
  const head = 'POST /record HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n'
  it.each([
    { name: 'its head', sent: head },
    { name: 'its body', sent: `${head}Content-Length: 100\r\n\r\n{"step"` },
  ])('that does not finish $name is cut off', async ({ sent }) => {
    const socket = connect(serve.port, '127.0.0.1', () => socket.write(sent.replace('PORT', String(serve.port))))
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk.toString()
      })
      socket.once('error', reject)
      socket.once('close', () => resolve(text))
    })
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(serve.printed().err.replaceAll(/^blocked: .*\n/gm, '')).toBe('')
  })
})

it('evicts the least recently used tasks beyond 10,000, and reports the lost history when one continues', async () => {
  const evaluate = async (task_id: string) => {
    const context = { agent_id: 'a', task_id, environment: 'test', risk_classification: 'limited' }
    const answer = await serve.post<Evaluation>('/evaluate', { intended: { step_type: 'step.exec' }, context })
    return answer.body
  }
  const gate = (task_id: string) => serve.post('/record', { step: { task_id, step_type: 'step.gate' } })
  await gate('oldest')
  await gate('kept')
  for (let first = 0; first < 9_999; first += 33)
    await Promise.all(
      Array.from({ length: 33 }, (_, index) => evaluate(`task ${first + index}`)).concat(evaluate('kept')),
    )

  expect(await evaluate('kept')).toMatchObject({ blocked: false })
  expect(await evaluate('kept')).not.toHaveProperty('history_lost')
  expect(await evaluate('oldest')).toMatchObject({ blocked: true, history_lost: true })
  await gate('oldest')
  // The gate is there; whether an error came before is not known.
  const unknown = await evaluate('oldest')
  expect(unknown).toMatchObject({ blocked: true, history_lost: true })
  expect(unknown.violations.map(({ violation_details }) => violation_details?.code)).toEqual(['HISTORY_LOST'])
  await serve.post('/end_task', { task_id: 'oldest' })
  // An end does not make the history of the id whole.
  expect(await evaluate('oldest')).toMatchObject({ blocked: true, history_lost: true })
})

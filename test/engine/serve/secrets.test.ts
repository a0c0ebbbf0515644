// Credentials in settings: none is printed, and none is in the answers of the local engine.
import { afterEach, describe, expect, it } from 'vitest'
import { runSvc, type Serve, startServe } from '../../support/engine/serve.js'
import { startTracePlatform } from '../../support/engine/trace-platform.js'

const running: Serve[] = []
afterEach(async () => {
  for (const serve of running.splice(0)) await serve.discard()
})
const platform = { SVC_API_URL: 'http://127.0.0.1:9', SVC_API_KEY: 'SvcKey-hunter2', SVC_AGENT_KEY: 'a' }

describe('settings that cannot be used', () => {
  it.each<[readonly string[], Readonly<Record<string, string>>]>([
    [['--baseline', '--log-location', 'https://user:hunter2@collector/?token=hunter2'], {}],
    [['--baseline', '--log-location', 'otlp:https://user:hunter2@collector/v1/traces'], {}],
    [['--baseline', '--log-location', 'otlp:https://user:hun/ter@hunter2@collector/v1/traces'], {}],
    [['--baseline', '--log-format', 'entry'], { SVC_LOG_LOCATION: 'otlp:https://collector/?token=hunter2' }],
    [['--baseline'], { SVC_INCIDENT_LOCATION: 'https://user:hunter2@siem/in' }],
    [['--baseline'], { SVC_INCIDENT_LOCATION: 'ftp://siem/in?token=hunter2' }],
    [['--baseline'], { SVC_INCIDENT_LOCATION: 'api', SVC_API_URL: 'http://user:hunter2@x', SVC_API_KEY: 'k' }],
    [['--log-location', 'none'], { ...platform, SVC_API_URL: 'http://user:hunter2@127.0.0.1:9' }],
    [['--log-location', 'none'], { ...platform, SVC_API_KEY: 'SvcKey-hunter2\nx' }],
    [['--baseline', '--log-location', 'api'], { ...platform, SVC_API_KEY: 'SvcKey-hunter2\u201d' }],
    [
      ['--baseline', '--log-location', 'otlp:http://127.0.0.1:9'],
      { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer hunter2%0Ax' },
    ],
  ])('%j %j end the start without the secret', async (args, env) => {
    const { code, out, err } = await runSvc(['serve', '--port', '0', ...args], env)
    expect([code, err.length > 0]).toEqual([1, true])
    expect(out + err).not.toContain('hunter2')
  })
})

describe('settings in use', () => {
  it('are in no answer and no line: addresses are shown without what may be secret', async () => {
    const receiver = await startTracePlatform()
    await receiver.stop()
    const env = {
      ...receiver.env,
      SVC_LOG_LOCATION: `otlp:${receiver.url}/v1/traces?token=hunter2`,
      SVC_INCIDENT_LOCATION: `${receiver.url}/in?token=hunter2`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer hunter2',
      SVC_LOCAL_TOKEN: 'hunter2-hunter2-hunter2',
    }
    const serve = await startServe(['--baseline'], {}, env)
    running.push(serve)
    const headers = { authorization: `Bearer ${env.SVC_LOCAL_TOKEN}` }
    const step = {
      task_id: 't',
      step_type: 'step.exec',
      properties: { exec: { command: 'rm -rf / # content-of-step' } },
    }
    await serve.call('POST', '/record', { body: { step }, headers })
    const answers = await Promise.all(
      ['/health', '/metrics', '/readyz', '/reload'].map(async (path) => {
        const answer = await fetch(serve.url + path, { headers, method: path === '/reload' ? 'POST' : 'GET' })
        return answer.text()
      }),
    )
    expect(answers[0]).toContain(`otlp:${receiver.url}/v1/traces?…`)
    serve.signal('SIGTERM')
    await serve.ended
    const { out, err } = serve.printed()
    expect(err).toContain('cannot be sent to')
    for (const text of [...answers, out, err]) {
      expect(text).not.toContain('hunter2')
      expect(text).not.toContain('content-of-step')
    }
  })
})

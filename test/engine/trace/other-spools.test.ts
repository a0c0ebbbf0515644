// Lines that wait for another location of the trace are named at each start.
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { callsOf, gate } from '../../support/engine/task-calls.js'
import { soon } from '../../support/server/soon.js'

const started: Serve[] = []
afterEach(async () => {
  for (const serve of started.splice(0).reverse()) await serve.discard()
})

describe('a start with another location of the trace', () => {
  it('names the lines that wait, and the settings that send them, without credentials', async () => {
    const start = async (location: string, folder?: string) => {
      const env = folder === undefined ? {} : { SVC_DATA_DIR: join(folder, 'data') }
      const serve = await startServe(['--baseline', '--log-location', location], {}, env)
      started.push(serve)
      return serve
    }
    // Nothing listens there.
    const first = await start('otlp:http://127.0.0.1:1/in?token=hidden')
    for (const _ of [1, 2]) await callsOf(() => first).record('t', gate)
    const second = await start('otlp:http://127.0.0.1:1/other', first.folder)
    first.signal('SIGTERM')
    await first.ended
    expect(first.printed().err).toContain('2 spans are not sent yet; the next start with the same location sends them')
    // A queue of a running engine is not named.
    expect(second.printed().err).not.toContain('another location')
    const third = await start('none', first.folder)
    await vi.waitFor(() => expect(third.printed().err).toContain('for another location of the trace'), soon)
    const { err } = third.printed()
    expect(err).toMatch(/2 lines wait in `[^`]*\/spool\/otlp-[0-9a-f]+`/)
    expect(err).toContain('a start with --log-location otlp:http://127.0.0.1:1/in?… sends them\n')
    expect(err).not.toContain('hidden')
  })
})

// Requests to a platform that accepts the connection and never answers end in time, also after garbage was collected.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withinTime } from '../../../engine/source/answer.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

let server: Server
let url: string
beforeAll(async () => {
  server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const silent = (timeout: number, stopping: AbortSignal) =>
  withinTime(timeout, stopping, async (signal) => (await fetch(url, { signal })).status)

it('a request ends after its time', async () => {
  const collecting = setInterval(collect, 20)
  const found = await silent(300, new AbortController().signal).catch((error: Error) => error.name)
  clearInterval(collecting)
  expect(found).toBe('TimeoutError')
})

it('a request ends when its caller stops, also before it began', async () => {
  const stop = new AbortController()
  const running = silent(300_000, stop.signal)
  stop.abort(new DOMException('over', 'AbortError'))
  await expect(running).rejects.toThrow('over')
  await expect(silent(300_000, stop.signal)).rejects.toThrow('over')
})

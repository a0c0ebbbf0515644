// `svc import --to`: the requests, their order, and the behavior when the platform is unavailable or rejects steps.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type Finished, type Running, startSvc } from '../support/cli/svc.js'
import { api_key, type LogEndpoint, problem, type Script, startLogEndpoint } from '../support/http/log-endpoint.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-import-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const open: LogEndpoint[] = []
afterEach(async () => {
  for (const endpoint of open.splice(0)) {
    expect(endpoint.complaints).toEqual([])
    await endpoint.close()
  }
})

async function start(script: Script = {}): Promise<LogEndpoint> {
  const endpoint = await startLogEndpoint(script)
  open.push(endpoint)
  return endpoint
}

/** A run with this number of steps, including its start and end. */
function run(run_id: string, steps = 3): string {
  const messages = Array.from({ length: steps - 2 }, (_, index) => ({ role: 'user', content: `${run_id} ${index}` }))
  return JSON.stringify({ run_id, messages })
}

function write(...lines: string[]): string {
  const path = join(mkdtempSync(join(folder, 'file-')), 'desk.jsonl')
  writeFileSync(path, lines.join('\n'))
  return path
}

const runs = (count: number, steps?: number) => Array.from({ length: count }, (_, index) => run(`r${index}`, steps))

function importTo({ url }: LogEndpoint, path: string, ...args: string[]): Running {
  const env = { SVC_API_KEY: api_key }
  return startSvc(['import', 'chat-completions', path, '--to', `${url}/`, '--json', ...args], env)
}

function summary({ code, stdout, stderr }: Finished): Record<string, unknown> {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Record<string, unknown>
}

describe('sending', () => {
  it('registers the agent with the tools of the file, then sends every run in order', async () => {
    const endpoint = await start()
    const tool_calls = ['pay', 'get_x'].map((name) => ({ function: { name, arguments: '{}' } }))
    const path = write(run('a'), JSON.stringify({ run_id: 'b', messages: [{ role: 'assistant', tool_calls }] }))
    const counts = summary(await importTo(endpoint, path).finished)
    expect(counts).toMatchObject({ runs: 2, steps: 8, created: 8, replayed: 0, failed_runs: 0, failures: [] })
    expect(endpoint.agents).toEqual([{ agent_key: 'desk', name: 'desk', declared_tools: ['get_x', 'pay'] }])
    const tasks = [...endpoint.stored.values()]
    expect(tasks.map((task) => task.map(({ step }) => step)).sort((a, b) => a.length - b.length)).toEqual([
      [1, 2, 3],
      [1, 2, 3, 4, 5],
    ])
    expect(tasks.flat().every((entry) => entry.agent_key === 'desk' && !('agent_id' in entry))).toBe(true)
  })

  it('adds nothing the second time', async () => {
    const endpoint = await start()
    const path = write(...runs(3))
    await importTo(endpoint, path).finished
    expect(summary(await importTo(endpoint, path).finished)).toMatchObject({ steps: 9, created: 0, replayed: 9 })
  })

  it('sends numbers as every edge accepts them', async () => {
    const endpoint = await start()
    const args = JSON.stringify('{"at": 1.7322624e+18, "far": -100000000000000000000.0}')
    const call = `{"role": "assistant", "tool_calls": [{"function": {"name": "get_x", "arguments": ${args}}}]}`
    const path = write(
      `{"run_id": "n", "reward": 1E20, "messages": [{"role": "user", "content": {"n": 9007199254740993.0}}, ${call}]}`,
    )
    expect(summary(await importTo(endpoint, path).finished)).toMatchObject({ failed_runs: 0, failures: [] })
    const sent = JSON.stringify([...endpoint.stored.values()])
    for (const number of ['1732262400000000000', '-100000000000000000000', '9007199254740992', '100000000000000000000'])
      expect(sent).toMatch(new RegExp(`:${number}[,}]`))
  })

  it('splits long runs into batches of 200, one after the other', async () => {
    const endpoint = await start()
    expect(summary(await importTo(endpoint, write(run('long', 450))).finished)).toMatchObject({ created: 450 })
    expect(endpoint.batches.map(({ entries }) => entries.length)).toEqual([200, 200, 50])
    expect([...endpoint.stored.values()][0]?.map(({ step }) => step)).toEqual(
      Array.from({ length: 450 }, (_, index) => index + 1),
    )
  })

  it('splits steps that are too large together', async () => {
    const endpoint = await start()
    const messages = Array.from({ length: 12 }, () => ({ role: 'user', content: '語'.repeat(900_000) }))
    await importTo(endpoint, write(JSON.stringify({ run_id: 'large', messages }))).finished
    // A start and two large steps, four times two, and the two that are left with the end.
    expect(endpoint.batches.map(({ entries }) => entries.length)).toEqual([3, 2, 2, 2, 2, 3])
  })

  it('sends four runs at once, never more', async () => {
    const held: (() => void)[] = []
    const endpoint: LogEndpoint = await start({
      batch: async ({ number }) => {
        if (number >= 4) return undefined
        const released = new Promise<void>((resolve) => held.push(resolve))
        if (held.length === 4) {
          // A fifth batch would be here by the time two whole exchanges have taken place.
          for (let exchange = 0; exchange < 2; exchange++) await fetch(endpoint.url).then((answer) => answer.text())
          for (const release of held) release()
        }
        await released
        return undefined
      },
    })
    expect(summary(await importTo(endpoint, write(...runs(12, 10))).finished)).toMatchObject({ created: 120 })
    expect(endpoint.max_concurrent()).toBe(4)
  })

  it('counts violations by policy, for any policy name', async () => {
    const endpoint = await start({
      violated: ({ step }) => (step === 1 ? ['critical one'] : step === 2 ? ['__proto__', 'critical one'] : []),
    })
    const counts = JSON.stringify(summary(await importTo(endpoint, write(...runs(2))).finished))
    expect(counts).toContain('"violations":{"critical one":4,"__proto__":2},"would_block":{"critical one":4}')
  })
})

describe('an unavailable platform', () => {
  it('is retried after its Retry-After, and every step is stored once', async () => {
    const endpoint = await start({
      agent: (number) => (number === 0 ? { status: 503 } : undefined),
      batch: ({ number }) => {
        if (number === 0) return { status: 503, headers: { 'retry-after': '1' } }
        if (number === 1) return { status: 429, headers: { 'retry-after': new Date(Date.now() + 2000).toUTCString() } }
        return number === 2 ? 'drop' : undefined
      },
    })
    expect(summary(await importTo(endpoint, write(run('a', 30))).finished)).toMatchObject({ steps: 30, replayed: 30 })
    expect(endpoint.agents).toHaveLength(2)
    const [first, second, third, fourth, ...more] = endpoint.batches.map(({ at }) => at)
    expect(more).toEqual([])
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990)
    // A date has whole seconds.
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(990)
    expect(fourth).toBeDefined()
    expect([...endpoint.stored.values()][0]).toHaveLength(30)
  })

  it('may store a part of a batch; the batch is sent again', async () => {
    const endpoint = await start({
      entry: ({ step }, batch) => (batch === 0 && step !== 1 ? { status: 503, problem: problem(503) } : undefined),
    })
    expect(summary(await importTo(endpoint, write(run('a', 3))).finished)).toMatchObject({ created: 2, replayed: 1 })
    expect([...endpoint.stored.values()][0]?.map(({ step }) => step)).toEqual([1, 2, 3])
  })
})

describe('a platform that rejects', () => {
  const detail = 'it is\u001b[2J what it is'

  it('a step: the message has the line and the step, and the import continues', async () => {
    const endpoint = await start({
      entry: ({ step, output }) =>
        step === 2 && output?.content === 'r1 0' ? { status: 422, problem: problem(422, detail) } : undefined,
    })
    const path = write(...runs(3))
    const { code, stdout } = await importTo(endpoint, path).finished
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      runs: 3,
      steps: 9,
      created: 8,
      failed_runs: 1,
      failures: [`line 2, step 2: ${detail}`],
    })
    const { url } = endpoint
    const env = { SVC_API_KEY: api_key }
    const text = await startSvc(['import', 'chat-completions', path, '--to', url], env).finished
    expect(text.stderr).toBe(`${path}: line 2, step 2: it is�[2J what it is\n`)
    expect(text.stdout).toBe('3 runs, 9 steps: 0 new, 8 already stored, 1 run failed\n')
  })

  it('a batch: the message has its steps, and the import continues', async () => {
    const endpoint = await start({
      batch: ({ entries }) =>
        JSON.stringify(entries).includes('r1 0') ? { status: 413, detail: 'too large' } : undefined,
    })
    const { code, stdout } = await importTo(endpoint, write(...runs(3))).finished
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      steps: 9,
      created: 6,
      failed_runs: 1,
      failures: [`line 2, steps 1 to 3: ${endpoint.url}/api/v1/logs/batch answered 413: too large`],
    })
  })

  it.each([
    ['the key at once', { agent: () => ({ status: 401, detail: 'no such key' }) }, 'agents answered 401: no such key'],
    ['the key later', { batch: () => ({ status: 401 }) }, 'logs/batch answered 401: as scripted'],
    ['with a redirect', { agent: () => ({ status: 308, headers: { location: '/' } }) }, 'agents answered 308: '],
  ])('%s: the import stops with a message', async (_, script: Script, message) => {
    const { code, stdout, stderr } = await importTo(await start(script), write(...runs(9))).finished
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toContain(api_key)
  })
})

describe('importing again', () => {
  it('after a crash stores the missing steps only', async () => {
    let holding = true
    let kill: () => void = () => undefined
    const endpoint = await start({
      batch: ({ number }) => {
        if (!holding || number < 6) return undefined
        // Four requests are held, so the first six runs are stored.
        if (number === 9) kill()
        return new Promise(() => undefined)
      },
    })
    const path = write(...runs(10))
    const { child, finished } = importTo(endpoint, path)
    kill = () => child.kill('SIGKILL')
    await finished
    holding = false
    expect(summary(await importTo(endpoint, path).finished)).toMatchObject({ runs: 10, created: 12, replayed: 18 })
    expect(endpoint.stored.size).toBe(10)
  })

  it('stores the runs that were rejected before', async () => {
    let rejecting = true
    const endpoint = await start({
      entry: ({ output }) =>
        rejecting && output?.content === 'r1 0' ? { status: 422, problem: problem(422) } : undefined,
    })
    const path = write(...runs(3))
    expect((await importTo(endpoint, path).finished).code).toBe(1)
    rejecting = false
    expect(summary(await importTo(endpoint, path).finished)).toMatchObject({ created: 1, replayed: 8 })
  })
})

// `svc import --to`: what the client sends, in which order, and what it does when the platform is away or refuses.
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { api_key, type LogEndpoint, problem, type Script, startLogEndpoint } from '../support/log-endpoint.js'
import { type Finished, type Running, startSvc } from '../support/svc.js'

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

/** A run of so many steps, its start and end included. */
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

let state = ''
beforeEach(() => {
  state = mkdtempSync(join(folder, 'state-'))
})
const states = () => readdirSync(join(state, 'svc', 'imports'))

function importTo({ url }: LogEndpoint, path: string, ...args: string[]): Running {
  const env = { SVC_API_KEY: api_key, XDG_STATE_HOME: state }
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
    expect(states()).toEqual([])
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

  it('sends at most four runs at a time', async () => {
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
    expect(endpoint.most_at_once()).toBe(4)
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
  it('is retried after the wait that it asks for, and nothing is lost or doubled', async () => {
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

  it('a step: the line and the step are named, and the rest goes on', async () => {
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
    const env = { SVC_API_KEY: api_key, XDG_STATE_HOME: state }
    const text = await startSvc(['import', 'chat-completions', path, '--to', url], env).finished
    expect(text.stderr).toBe(`${path}: line 2, step 2: it is�[2J what it is\n`)
    expect(text.stdout).toBe('3 runs, 9 steps: 0 new, 8 already there, 1 runs failed\n')
  })

  it('a batch: its steps are named, and the rest goes on', async () => {
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
    ['the key on the way', { batch: () => ({ status: 401 }) }, 'logs/batch answered 401: as scripted'],
    ['by sending elsewhere', { agent: () => ({ status: 308, headers: { location: '/' } }) }, 'agents answered 308: '],
  ])('%s: the import stops and says so', async (_, script: Script, message) => {
    const { code, stdout, stderr } = await importTo(await start(script), write(...runs(9))).finished
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toContain(api_key)
  })
})

describe('resuming', () => {
  it('after a crash sends the unacknowledged runs, and removes its state once all are acknowledged', async () => {
    let holding = true
    let kill: () => void = () => undefined
    const endpoint = await start({
      batch: ({ number }) => {
        if (!holding || number < 6) return undefined
        // Four are held back, so the first six have been acknowledged and noted.
        if (number === 9) kill()
        return new Promise(() => undefined)
      },
    })
    const path = write(...runs(10))
    const { child, finished } = importTo(endpoint, path)
    kill = () => child.kill('SIGKILL')
    await finished
    expect(states()).toHaveLength(1)
    holding = false
    const before = endpoint.batches.length
    const fresh = await startLogEndpoint()
    expect(summary(await importTo(fresh, path, '--resume').finished)).toMatchObject({ created: 30, skipped_runs: 0 })
    await fresh.close()
    expect(summary(await importTo(endpoint, path, '--resume').finished)).toMatchObject({
      runs: 10,
      skipped_runs: 6,
      steps: 12,
      created: 12,
      replayed: 0,
    })
    expect(endpoint.batches.length - before).toBe(4)
    expect(endpoint.stored.size).toBe(10)
    expect(states()).toEqual([])
  })

  it('sends failed runs again, unless the file, the start or the mapping has changed', async () => {
    let refusing = true
    const endpoint = await start({
      entry: ({ output }) =>
        refusing && output?.content === 'r1 0' ? { status: 422, problem: problem(422) } : undefined,
    })
    const path = write(...runs(3))
    expect((await importTo(endpoint, path).finished).code).toBe(1)
    expect((await importTo(endpoint, path, '--resume').finished).code).toBe(1)
    const tools = join(folder, 'tools.yaml')
    writeFileSync(tools, 'pay: {verb: POST}\n')
    for (const other of [
      ['--tools', tools],
      ['--start', '2025-01-01T00:00:00Z', '--agent-key', 'other'],
    ]) {
      const { stdout } = await importTo(endpoint, path, '--resume', ...other).finished
      expect(JSON.parse(stdout)).toMatchObject({ skipped_runs: 0 })
    }
    refusing = false
    expect(summary(await importTo(endpoint, path, '--resume').finished)).toMatchObject({ skipped_runs: 2, steps: 3 })
    refusing = true
    await importTo(endpoint, path).finished
    utimesSync(path, new Date(), new Date(Date.now() + 5000))
    refusing = false
    expect(summary(await importTo(endpoint, path, '--resume').finished)).toMatchObject({ skipped_runs: 0, steps: 9 })
  })

  it('without --resume everything is sent', async () => {
    let refusing = true
    const endpoint = await start({
      entry: ({ output }) =>
        refusing && output?.content === 'r1 0' ? { status: 422, problem: problem(422) } : undefined,
    })
    const path = write(...runs(3))
    await importTo(endpoint, path).finished
    refusing = false
    expect(summary(await importTo(endpoint, path).finished)).toMatchObject({ skipped_runs: 0, steps: 9 })
    expect(states()).toEqual([])
  })

  it('is not possible where no state can be written, but importing is', async () => {
    const endpoint = await start()
    const file = join(folder, 'no-folder')
    writeFileSync(file, '')
    const env = { SVC_API_KEY: api_key, XDG_STATE_HOME: file }
    const args = ['import', 'chat-completions', write(run('a')), '--to', endpoint.url]
    const { code, stdout, stderr } = await startSvc(args, env).finished
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1 runs, 3 steps: 3 new, 0 already there, 0 runs failed\n' })
    expect(stderr).toMatch(/^what has been sent cannot be noted/)
  })
})

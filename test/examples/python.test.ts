// The agent of examples/python, as its README says to run it.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../support/engine/serve.js'

const program = fileURLToPath(new URL('../../examples/python/agent.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.log('skipped: python3 is not installed')

const running: Serve[] = []
afterEach(async () => {
  for (const serve of running.splice(0)) await serve.discard()
})

function runAgent(env: Readonly<Record<string, string>>) {
  const child = spawn('python3', [program], { env: { PATH: process.env.PATH, ...env } })
  const printed = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    printed.out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    printed.err += chunk.toString()
  })
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, ...printed })),
  )
}

describe.skipIf(!hasPython)('examples/python/agent.py', () => {
  it('acts when it may, is stopped when it may not, and leaves the record of both', async () => {
    const serve = await startServe(['--baseline'])
    running.push(serve)
    const { code, out, err } = await runAgent({ ENGINE_URL: serve.url })
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(
      /^read: 1 order, 79\.90 EUR\nrefused: `Only declared tools` asks for an approval: .*\ntask: \S+\n$/,
    )
    const task_id = /^task: (\S+)$/m.exec(out)?.[1]
    const lines = serve.trace()
    expect(lines.every((line) => line.task_id === task_id)).toBe(true)
    expect(
      lines.map(({ kind, step_type, step_name, output }) => [kind, step_type ?? null, step_name ?? null, output]),
    ).toEqual([
      ['step', 'task.start', null, undefined],
      ['step', 'step.resource', 'read_orders', { orders: [expect.objectContaining({ id: 'A-1042' })] }],
      ['step', 'step.self', 'write_summary', { saved: 18 }],
      ['evaluation', null, null, undefined],
      ['step', 'step.resource', 'upload', { status: 'blocked' }],
      ['incident', null, null, undefined],
      ['step', 'task.error', null, undefined],
      ['step', 'task.end', null, undefined],
      ['end', null, null, undefined],
    ])
    expect(lines.filter(({ kind }) => kind === 'incident')).toMatchObject([
      { agent_id: 'order-desk', step: 4, reason: 'violated', violation: { name: 'Only declared tools' } },
    ])
    const metrics = await (await fetch(`${serve.url}/metrics`)).text()
    expect(metrics).toMatch(/^svc_decisions_open 0$/m)
  })

  it('governs in at most 20 lines of its own, with the standard library alone', () => {
    const text = readFileSync(program, 'utf8')
    const governing = text.slice(text.indexOf('# --- governing'), text.indexOf('# --- the agent'))
    expect(governing.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#')).length).toBeLessThan(21)
    expect([...text.matchAll(/^(?:import|from) (\w+)/gm)].map(([, name]) => name)).toEqual([
      'json',
      'os',
      'urllib',
      'uuid',
    ])
  })
})

// A reader that ends before the command, such as `head`: the command ends silently, a server continues.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { freePort, startPiped, svc } from '../support/server/closed-pipe.js'
import { soon } from '../support/server/soon.js'

const log = 'log.example/org/org_1/1+4722738a+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c'
const folder = mkdtempSync(join(tmpdir(), 'svc-pipe-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a command whose output is closed', () => {
  it.each(
    [
      ['rules', '--json'],
      ['rules'],
      ['steps'],
      ['steps', '--json'],
      ['attack-demo'],
      ['--help'],
      ['serve', '--help'],
      ['--version'],
    ].map((args) => ({ args })),
  )('ends silently: svc $args', async ({ args }) => {
    const { code, other } = await startPiped('stdout', [svc, ...args]).ended
    expect(other).toBe('')
    expect([0, 141]).toContain(code)
  })

  it.each([[['nothing']], [['rules', '--name', 'x']], [['verify', 'gone.zip']], [['explain', 'gone.yaml']]])(
    'ends silently when its errors cannot be written: svc %s',
    async (args) => {
      const { code, other } = await startPiped('stderr', [svc, ...args]).ended
      expect(other).toBe('')
      expect([1, 2, 141]).toContain(code)
    },
  )
})

describe('a server whose output is closed', () => {
  it.each([
    { name: 'serve', closed: 'stdout', args: ['serve', '--baseline'], path: '/health' },
    { name: 'serve, without its errors', closed: 'stderr', args: ['serve', '--baseline'], path: '/health' },
    {
      name: 'serve, with the trace on it',
      closed: 'stdout',
      args: ['serve', '--baseline', '--log-location', 'stdout'],
      path: '/health',
    },
    {
      name: 'witness',
      closed: 'stdout',
      args: ['witness', '--name', 'w.example', '--log', log, '--dir', join(folder, 'w')],
      path: '/add-checkpoint',
    },
  ] as const)('continues: $name', async ({ closed, args, path }) => {
    const port = await freePort()
    const { pid, ended } = startPiped(closed, [svc, ...args, '--port', `${port}`], { SVC_DATA_DIR: folder })
    const status = () => fetch(`http://127.0.0.1:${port}${path}`).then((response) => response.status)
    await vi.waitFor(async () => expect(await status()).toBeGreaterThanOrEqual(200), soon)
    if (path === '/health') {
      // Each of these is a line on one of its outputs.
      const step = { task_id: 't', step_type: 'step.exec', agent_id: 'a' }
      const context = { agent_id: 'a', task_id: 't', environment: 'test', risk_classification: 'limited' }
      const post = (to: string, body: object) =>
        fetch(`http://127.0.0.1:${port}${to}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }).then((response) => response.status)
      expect(await post('/evaluate', { intended: step, context })).toBe(200)
      for (let number = 1; number < 4; number++)
        expect(await post('/record', { step: { ...step, step: number } })).toBe(200)
      expect(await status()).toBe(200)
    }
    process.kill(await pid, 'SIGTERM')
    expect((await ended).code).toBe(0)
  })
})

// An agent in another language, with nothing of this project but the address of the local engine.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startServe } from '../support/serve.js'

const root = import.meta.url.includes('/test/dist/') ? '../../engine/' : './'
const agent = fileURLToPath(new URL(`${root}python-agent/agent.py`, import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.log('skipped: python3 is not installed')

interface Answered {
  readonly name: string
  readonly status: number
  readonly answer: { readonly blocked?: boolean; readonly step?: number }
}

function runAgent(url: string): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn('python3', [agent, url], { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    printed.out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    printed.err += chunk.toString()
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...printed })))
}

const expected = [
  ['register', { blocked: false }],
  ['start', { step: 1 }],
  ['model', { blocked: false }],
  ['model done', { step: 2 }],
  ['command', { blocked: true }],
  ['gate', { step: 3 }],
  ['command after a gate', { blocked: false }],
  ['command done', { step: 4 }],
  ['end', { step: 5 }],
  ['end_task', { status: 'ok' }],
  ['command in a new task of the same id', { blocked: true }],
] as const

describe.skipIf(!hasPython)('an agent in Python', () => {
  it('gets a valid answer to every request, with the expected decisions', async () => {
    const serve = await startServe(['--baseline'])
    try {
      const { code, out, err } = await runAgent(serve.url)
      expect([code, err]).toEqual([0, ''])
      const answers = JSON.parse(out) as Answered[]
      expect(answers.filter(({ status }) => status !== 200)).toEqual([])
      expect(answers.map(({ name, answer }) => [name, answer])).toEqual(
        expected.map(([name, answer]) => [name, expect.objectContaining(answer)]),
      )
    } finally {
      await serve.discard()
    }
  })
})

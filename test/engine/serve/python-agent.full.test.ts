// An agent in another language, with nothing of this project but the address of the local engine.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'

const agent = fileURLToPath(new URL('./python-agent/agent.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.log('skipped: python3 is not installed')

interface Answered {
  readonly name: string
  readonly status: number
  readonly answer: { readonly blocked?: boolean; readonly step?: number }
}

function runPython(args: readonly string[], typed = ''): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn('python3', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(typed)
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
      const { code, out, err } = await runPython([agent, serve.url])
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

describe.skipIf(!hasPython)('the agent of docs/developers.md, which lets a person decide', () => {
  const page = readFileSync(fileURLToPath(new URL('../../../docs/developers.md', import.meta.url)), 'utf8')
  const [, program = ''] = /```python\n([\s\S]*?)```/.exec(page) ?? []
  const [, manifest = ''] = /cat > payments\.yaml <<'END'\n([\s\S]*?)^END$/m.exec(page) ?? []
  let serve: Serve
  afterEach(() => serve.discard())

  it.each([
    {
      typed: 'y\n',
      output: "{'receipt': 17}",
      types: ['task.start', 'step.gate', 'step.resource'],
      violated: [],
    },
    {
      typed: 'n\n',
      output: "{'status': 'blocked'}",
      types: ['task.start', 'step.resource', 'task.error', 'task.end'],
      violated: ['Payments go to known recipients'],
    },
  ])('prints $output when the person types $typed', async ({ typed, output, types, violated }) => {
    serve = await startServe(['--policy-file', 'payments.yaml'], { 'payments.yaml': manifest })
    const path = join(serve.folder, 'pay.py')
    writeFileSync(path, program.replace('http://127.0.0.1:8765', serve.url))
    const { code, out, err } = await runPython([path], typed)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('`Payments go to known recipients` asks for an approval')
    expect(out).toContain(output)
    const lines = serve.trace()
    expect(lines.filter(({ kind }) => kind === 'step').map(({ step_type }) => step_type)).toEqual(types)
    const incidents = lines.filter(({ kind }) => kind === 'incident')
    expect(incidents.map(({ violation }) => (violation as { name: string }).name)).toEqual(violated)
  })
})

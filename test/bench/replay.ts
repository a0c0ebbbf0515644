// `svc replay` of recorded tasks in a process of its own: the CPU time of all its threads, and its memory at most. Compared
// with evaluating and recording the same steps in memory, without reading them.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onAgent, parseManifest, Task } from '@svc/engine'
import { baselineManifest } from '@svc/engine/baseline'
import type { Manifest, Step } from '@svc/schemas'
import type { Row } from './main.js'
import { pick, type Random, seeded, text } from './past-steps.js'

const stepsPerTask = 10
/** Tasks that run at the same time, their lines interleaved. */
const width = 64
const start = Date.UTC(2026, 0, 5, 9)
const tools = ['search_flight', 'get_reservation', 'book_reservation', 'cancel_reservation', 'send_certificate']
const agent = { agent_key: 'airline', declared_tools: tools, purpose: 'serves customers', environment: 'production' }
const program = fileURLToPath(new URL('../../../cli/bin/svc.js', import.meta.url))

const policy = (name: string, rule_type: string, params: object, severity: string) =>
  `  - ${JSON.stringify({ name, rule_type, params, severity, scope: 'step_execution' })}\n`
const desk = { target_step_names: ['book_reservation'] }
const manifestText = `name: Booking desk\nversion: "1"\npolicies:\n${[
  policy(
    'Bookings follow a model',
    'step_requires_predecessor',
    { required_step_type: 'step.model', ...desk },
    'critical',
  ),
  policy('Amounts', 'field_in_range', { field: 'input.amount', min: 0, max: 450, ...desk }, 'high'),
  policy('Few calls of models', 'execution_max_steps', { step_type: 'step.model', max_steps: 50 }, 'high'),
  policy('Slowly', 'step_rate_limit', { step_type: 'step.resource', max_steps: 300, window_seconds: 60 }, 'medium'),
  policy('No card numbers', 'pii_in_request', { patterns: ['[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{4}'] }, 'critical'),
  policy('Accounts need a gate', 'step_requires_gate', { target_step_names: ['close_account'] }, 'critical'),
  policy(
    'Tokens',
    'usage_budget',
    { step_type: 'step.model', property_path: 'usage.total_tokens', budget: 1e5 },
    'low',
  ),
  policy('Names', 'field_matches_regex', { field: 'step_name', pattern: '[a-z_]+$', ...desk }, 'low'),
  policy('Passengers', 'length_at_most', { field: 'input.passengers', max: 4 }, 'low'),
  policy('Hosts', 'domain_allowlist', { allowed_domains: ['booking.example'] }, 'critical'),
].join('')}`

/** Takes about a minute. */
export function benchReplay(): Row[] {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-replay-'))
  try {
    const manifest = join(folder, 'manifest.yaml')
    writeFileSync(manifest, manifestText)
    const small = replayed(traceOf(folder, 100_000), manifest)
    const large = replayed(traceOf(folder, 1_000_000), manifest)
    const alone = evaluatedAlone(100_000)
    return rowsOf(small, large, alone)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function rowsOf(small: Usage, large: Usage, alone: number): Row[] {
  const rate = ({ cpu, steps }: Usage) => `${Math.round(steps / (cpu / 1e6)).toLocaleString('en')} steps/s of CPU time`
  const memory = ({ resident, steps }: Usage) => `${Math.round(resident)} MiB at ${steps.toLocaleString('en')} steps`
  return [
    {
      what: 'svc replay, 10,000 tasks, 25 policies, CPU',
      measured: `${(small.cpu / 1e6).toFixed(2)} s`,
      reference: `evaluate and record alone ${(alone / 1e6).toFixed(2)} s`,
      ratio: (small.cpu / alone).toFixed(2),
      bar: '≤ 2',
    },
    {
      what: 'svc replay, 100,000 tasks, CPU',
      measured: rate(large),
      reference: `10,000 tasks: ${rate(small)}`,
      ratio: (large.cpu / large.steps / (small.cpu / small.steps)).toFixed(2),
      bar: '≥ 100,000 steps/s',
    },
    {
      what: 'svc replay, memory at most',
      measured: memory(large),
      reference: memory(small),
      ratio: (large.resident / small.resident).toFixed(2),
      bar: 'constant',
    },
  ]
}

interface Usage {
  readonly steps: number
  /** µs */
  readonly cpu: number
  /** MiB */
  readonly resident: number
}

/** Reports its usage when it ends. */
const preload = `data:text/javascript,${encodeURIComponent(
  'process.on("exit",()=>{const u=process.resourceUsage();console.error(JSON.stringify([u.userCPUTime+u.systemCPUTime,u.maxRSS]))})',
)}`

function replayed({ path, steps }: { readonly path: string; readonly steps: number }, manifest: string): Usage {
  const args = ['--import', preload, program, 'replay', path, '--manifest', 'baseline', '--manifest', manifest]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0 || !stdout.includes(`with ${steps.toLocaleString('en')} steps`)) throw new Error(stdout + stderr)
  const [cpu = 0, resident = 0] = JSON.parse(stderr.trim()) as number[]
  return { steps, cpu, resident: resident / 1024 }
}

/** A trace of that many steps. */
function traceOf(folder: string, steps: number) {
  const path = join(folder, `${steps}.jsonl`)
  const file = openSync(path, 'w')
  let lines = ''
  for (const step of recordedSteps(steps)) {
    lines += `${JSON.stringify(step)}\n`
    if (lines.length < 1_000_000) continue
    writeSync(file, lines)
    lines = ''
  }
  writeSync(file, lines)
  closeSync(file)
  return { path, steps }
}

function* recordedSteps(count: number): Generator<Step> {
  const random = seeded(7)
  const per_round = width * stepsPerTask
  for (let index = 0; index < count; index++) {
    const number = Math.floor((index % per_round) / width)
    const task_id = `task-${Math.floor(index / per_round) * width + (index % width)}`
    const timestamp = new Date(start + index * 37).toISOString()
    yield { agent_id: 'airline', task_id, step: number + 1, timestamp, ...bodyOf(number, random) }
  }
}

function bodyOf(number: number, random: Random): Pick<Step, 'step_type'> & Partial<Step> {
  if (number === 0) return { step_type: 'task.start', meta: { agent } }
  if (number === stepsPerTask - 1) return { step_type: 'task.end' }
  if (number === 1) {
    const properties = { counterpart: { kind: 'user' } }
    return { step_type: 'step.message', verb: 'GET', properties, output: { text: `"Hello"\n${text(random, 12)}` } }
  }
  if (number % 2 === 0) {
    const properties = { usage: { total_tokens: 812 } }
    return { step_type: 'step.model', verb: 'POST', output: { text: text(random, 12) }, properties }
  }
  const input = { reservation_id: `Q${Math.floor(random() * 1000)}`, amount: Math.floor(random() * 500) }
  const flights = [{ no: `HAT${Math.floor(random() * 300)}`, price: Math.floor(random() * 900) }]
  const step_name = pick(random, tools)
  return { step_type: 'step.resource', verb: 'POST', step_name, input, output: { status: 'ok', flights } }
}

/** CPU time in µs of evaluating and recording the steps, the best of three rounds. */
function evaluatedAlone(count: number): number {
  const own = parseManifest(manifestText, 'manifest.yaml').value as Manifest
  const { set } = onAgent({ ...own, policies: [...baselineManifest.policies, ...own.policies] }, agent)
  const steps = [...recordedSteps(count)]
  const rounds = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    const tasks = new Map<string, Task>()
    for (const [index, step] of steps.entries()) {
      const { task_id = '' } = step
      const task = tasks.get(task_id) ?? new Task(set)
      const now = start + index * 37
      task.evaluate(step, agent, { now })
      task.add(step, now)
      if (step.step_type === 'task.end') tasks.delete(task_id)
      else tasks.set(task_id, task)
    }
    const { user, system } = process.cpuUsage(before)
    return user + system
  })
  return Math.min(...rounds)
}

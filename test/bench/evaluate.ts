// One evaluation: 100 policies of all six categories, 20 of them compound, for varied steps of 64 tasks. Compared with
// hand-written closures that do the same checks in the same process, and a history of 10,000 steps with one of 50.
import { compile, Task as RunningTask } from '@svc/engine'
import type { Step } from '@svc/schemas'
import { addStep, byHand, newTask, type Task } from './by-hand.js'
import type { Row } from './main.js'
import { seeded } from './past-steps.js'
import { agent, hundredPolicies } from './policies.js'
import { pastSteps, tasks, variedStep } from './varied-steps.js'

const start = Date.UTC(2026, 0, 5, 9)

/** A p99 is the median of the p99s of these rounds, because the machine may do other work. */
const rounds = 20
const stepsPerRound = 2048
const warmUpRounds = 10
/** CPU time is read around untimed rounds; the system counts it in steps of up to 4 ms. */
const cpuRounds = 5
const repetitions = 8

export function benchEvaluate(): Row[] {
  const set = compile(hundredPolicies())
  if (set.dropped.length > 0) throw new Error(JSON.stringify(set.dropped))
  const hand = byHand()
  const short = histories(set, 50)
  const long = histories(set, 10_000)
  const ownTasks = Array.from({ length: tasks }, (_, task) => handTask(task, 50))
  const evaluated = (of: readonly RunningTask[], length: number) => {
    const now = start + length * 1000
    return (step: Step, task: number) => (of[task] as RunningTask).evaluate(step, agent, { now }).violations.length
  }
  const now = start + 50 * 1000
  const contenders: readonly Contender[] = [
    evaluated(short, 50),
    (step, task) => hand(step, ownTasks[task] as Task, now).length,
    evaluated(long, 10_000),
  ]
  assertSame(
    (step, task) => {
      const { policies } = (short[task] as RunningTask).evaluate(step, agent, { now })
      return policies.filter(({ violated }) => violated).map(({ policy_id }) => policy_id)
    },
    (step, task) => hand(step, ownTasks[task] as Task, now),
  )
  const [own, reference, ofLong] = measure(contenders)
  if (own === undefined || reference === undefined || ofLong === undefined) throw new Error('nothing was measured')
  return rowsOf(own, reference, ofLong)
}

function rowsOf(own: Measurement, hand: Measurement, long: Measurement): Row[] {
  const what = 'evaluate, 100 policies, 50 steps'
  const row = (name: string, one: number, other: number, bar: string) => ({
    what: name,
    measured: us(one),
    reference: `by hand ${us(other)}`,
    ratio: (one / other).toFixed(1),
    bar,
  })
  return [
    row(`${what}, p50`, own.p50, hand.p50, '≤ 8'),
    row(`${what}, CPU`, own.cpu, hand.cpu, 'CPU ≤ 15 µs'),
    row(`${what}, p99`, own.p99, hand.p99, 'p99 ≤ 30 µs'),
    {
      what: 'evaluate, 10,000 steps, p50',
      measured: us(long.p50),
      reference: `50 steps ${us(own.p50)}`,
      ratio: (long.p50 / own.p50).toFixed(2),
      bar: '≤ 1.2',
    },
  ]
}

const us = (ns: number) => `${(ns / 1000).toFixed(1)} µs`

function histories(set: ReturnType<typeof compile>, length: number): RunningTask[] {
  return Array.from({ length: tasks }, (_, task) => {
    const running = new RunningTask(set)
    for (const [index, step] of pastSteps(task, length).entries()) running.add(step, start + index * 1000)
    return running
  })
}

function handTask(task: number, length: number): Task {
  const own = newTask()
  for (const [index, step] of pastSteps(task, length).entries()) addStep(own, step, start + index * 1000)
  return own
}

/** Evaluates a step of a task and returns the number of violated policies. */
type Contender = (step: Step, task: number) => number

interface Measurement {
  /** ns */
  readonly p50: number
  readonly p99: number
  readonly cpu: number
}

/** Measures the contenders in turn, each on the same steps, read anew from their JSON. */
function measure(contenders: readonly Contender[]): Measurement[] {
  for (let round = 0; round < warmUpRounds; round++) for (const one of contenders) timed(one, round)
  const clock = median(
    Array.from({ length: rounds }, () =>
      percentile(
        timed(() => 1, 0),
        0.5,
      ),
    ),
  )
  const samples = contenders.map(() => ({ p50: [] as number[], p99: [] as number[], cpu: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const [index, one] of contenders.entries()) {
      const taken = timed(one, round)
      samples[index]?.p50.push(percentile(taken, 0.5) - clock)
      samples[index]?.p99.push(percentile(taken, 0.99) - clock)
    }
  }
  for (let round = 0; round < cpuRounds; round++)
    for (const [index, one] of contenders.entries()) samples[index]?.cpu.push(cpuOf(one, round))
  return samples.map(({ p50, p99, cpu }) => ({ p50: median(p50), p99: median(p99), cpu: median(cpu) }))
}

function freshSteps(seed: number): Step[] {
  const random = seeded(1000 + seed)
  return Array.from({ length: stepsPerRound }, () => JSON.parse(variedStep(random)) as Step)
}

/** Time of each evaluation in ns, with the time of the clock itself. */
function timed(contender: Contender, round: number): Float64Array {
  const steps = freshSteps(round)
  const samples = new Float64Array(steps.length)
  let violations = 0
  for (const [index, step] of steps.entries()) {
    const before = process.hrtime.bigint()
    violations += contender(step, index % tasks)
    samples[index] = Number(process.hrtime.bigint() - before)
  }
  if (violations === 0) throw new Error('no policy was violated')
  return samples
}

/** CPU time of all threads for each evaluation in ns: it counts the collection of garbage. */
function cpuOf(contender: Contender, round: number): number {
  let total = 0
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const steps = freshSteps(round * repetitions + repetition)
    const before = process.cpuUsage()
    for (let index = 0; index < steps.length; index++) contender(steps[index] as Step, index % tasks)
    const { user, system } = process.cpuUsage(before)
    total += user + system
  }
  return (total * 1000) / (repetitions * stepsPerRound)
}

function assertSame(
  own: (step: Step, task: number) => readonly number[],
  hand: (step: Step, task: number) => readonly number[],
): void {
  for (const [index, step] of freshSteps(0).entries()) {
    const found = own(step, index % tasks).join()
    const expected = hand(step, index % tasks).join()
    if (found !== expected) throw new Error(`step ${index} violates ${found}, by hand ${expected}`)
  }
}

function percentile(samples: Float64Array, share: number): number {
  return samples.toSorted()[Math.floor(samples.length * share)] ?? 0
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}

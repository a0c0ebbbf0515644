// The time of one evaluation: 100 policies of all six categories, 20 of them compound, on 50 and on 10,000 steps.
import { compile, evaluate, newHistory, type PolicySet, record } from '@svc/engine'
import type { Row } from './main.js'
import { agent, hundredPolicies, pastStep, step } from './policies.js'

const start = Date.UTC(2026, 0, 5, 9)

export function benchEvaluate(): Row[] {
  const set = compile(hundredPolicies())
  if (set.dropped.length > 0) throw new Error(JSON.stringify(set.dropped))
  const short = measure(set, 50)
  const long = measure(set, 10_000)
  const us = (ns: number) => `${(ns / 1000).toFixed(1)} µs`
  return [
    {
      what: 'evaluate, 100 policies, 50 steps, p50',
      measured: us(short.p50),
      reference: 'target 300 µs',
      ratio: (short.p50 / 300_000).toFixed(3),
      bar: '–',
    },
    {
      what: 'evaluate, 100 policies, 50 steps, p99',
      measured: us(short.p99),
      reference: 'target 300 µs',
      ratio: (short.p99 / 300_000).toFixed(3),
      bar: 'p99 ≤ 30 µs',
    },
    {
      what: 'evaluate, 10,000 steps, p50',
      measured: us(long.p50),
      reference: `50 steps ${us(short.p50)}`,
      ratio: (long.p50 / short.p50).toFixed(2),
      bar: '≤ 1.2',
    },
  ]
}

function measure(set: PolicySet, steps: number): { p50: number; p99: number } {
  const history = newHistory(set)
  for (let index = 0; index < steps; index++) {
    record(set, history, pastStep(index), start + index * 1000)
  }
  const context = { step, agent, context: agent, history, now: start + steps * 1000 }
  const samples = new Float64Array(200_000)
  let sink = 0
  for (let round = -20_000; round < samples.length; round++) {
    const before = process.hrtime.bigint()
    const decision = evaluate(set, 'step', context)
    const took = Number(process.hrtime.bigint() - before)
    sink += decision.policies.length
    if (round >= 0) samples[round] = took
  }
  if (sink === 0) throw new Error('nothing was evaluated')
  samples.sort()
  return { p50: samples[samples.length >> 1] ?? 0, p99: samples[Math.floor(samples.length * 0.99)] ?? 0 }
}

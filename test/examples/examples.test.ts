// The examples: what the commands of examples/README.md show on the recorded runs, and that the runs are as it describes them.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseManifest, readTraceLine, runTests } from '@svc/engine'
import { agentOfStart, createStepCheck } from '@svc/engine/parts'
import type { JsonMap, ManifestTests, Step } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { runSvc } from '../support/cli/svc.js'

interface Listed {
  readonly task_id: string
  readonly step: number
  readonly outcome?: string
  readonly before?: string
  readonly after?: string
  readonly policies: readonly { readonly name: string }[]
}

interface Case {
  readonly name: string
  readonly manifest: string
  readonly against?: string
  readonly expect: JsonMap
  readonly first: Readonly<Record<string, readonly [step: number, outcome: string, policy: string]>>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(root + path, 'utf8')
const cases = parse(read('test/cases/examples.yaml')) as Case[]
const svc = (...args: readonly string[]) => runSvc(args, {}, undefined, root)

/** The first listed step of each task: its number, its outcome and the first policy. */
function firstOf(listed: readonly Listed[]): Case['first'] {
  const first = new Map<string, Listed>()
  for (const found of listed)
    if (!((first.get(found.task_id)?.step ?? Infinity) < found.step)) first.set(found.task_id, found)
  const outcomeOf = ({ outcome, before, after }: Listed) => outcome ?? `${before} → ${after}`
  const rows = [...first].map(([task_id, found]) => [task_id, [found.step, outcomeOf(found), found.policies[0]?.name]])
  return Object.fromEntries(rows) as Case['first']
}

describe('the manifests of the examples', () => {
  it.each([
    ['validate', 'examples', '--strict'],
    ['check', 'examples/manifests', '--strict'],
    ['check', 'examples/changes', '--strict'],
    ['test', 'examples/manifests', 'examples/changes', '--require-tests', '--strict'],
  ])('pass svc %s %s', async (...args) => {
    expect(await svc(...args)).toMatchObject({ code: 0, stderr: '' })
  })

  it.each(cases)('$name', async ({ manifest, against, expect: expected, first }) => {
    const other = against === undefined ? [] : ['--against', against]
    const { code, stdout, stderr } = await svc('replay', 'examples/runs', '--manifest', manifest, ...other, '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const report = JSON.parse(stdout) as JsonMap &
      Record<'first_blocks' | 'flips', { readonly listed: readonly Listed[] }>
    expect(report).toMatchObject({ ...expected, unreadable_lines: 0, rejected: [] })
    expect(firstOf(against === undefined ? report.first_blocks.listed : report.flips.listed)).toEqual(first)
  })
})

describe('the tests before a change', () => {
  it.each([
    { change: 'tighten-refunds/policies/support.yaml', tests: 'support.test.yaml', failed: [] },
    {
      change: 'loosen-deployments/policies/coding.yaml',
      tests: 'coding.yaml',
      failed: ['production without a review is blocked', 'a rejected review is not a review'],
    },
  ])('fail for $change only where it is looser', ({ change, tests, failed }) => {
    const { value } = parseManifest(read(`examples/changes/${change}`), change)
    const before = parse(read(`examples/manifests/policies/${tests}`)) as ManifestTests
    const results = value === null ? [] : runTests(value, before.tests)
    expect(results).toHaveLength(before.tests.length)
    expect(results.filter(({ passed }) => !passed).map(({ name }) => name)).toEqual(failed)
  })
})

describe('the recorded runs', () => {
  const files = readdirSync(`${root}examples/runs`).filter((name) => name.endsWith('.jsonl'))
  const runs = files.map((name) => {
    const readings = read(`examples/runs/${name}`).trimEnd().split('\n').map(readTraceLine)
    return {
      name,
      steps: readings.flatMap((reading): Step[] => (reading.kind === 'step' ? [reading.step] : [])),
      readings,
    }
  })

  it('are thirty tasks of three agents in one week', () => {
    const agents = runs.map(({ steps: [start] }) => start && agentOfStart(start)?.agent_key)
    expect([runs.length, [...new Set(agents)].sort()]).toEqual([30, ['market-reporter', 'shop-coder', 'support-desk']])
    const days = runs.flatMap(({ steps }) => steps.map(({ timestamp }) => String(timestamp).slice(0, 10)))
    expect([...new Set(days)].sort()).toEqual(['12', '13', '14', '15', '16'].map((day) => `2026-01-${day}`))
  })

  it.each(runs)('$name is one task of 5 to 40 steps in order, which a platform accepts', ({ steps, readings }) => {
    expect(steps.length).toBe(readings.length)
    expect(steps.length).toBeGreaterThanOrEqual(5)
    expect(steps.length).toBeLessThanOrEqual(40)
    expect(steps.map(createStepCheck()).filter((problem) => problem !== null)).toEqual([])
    expect(new Set(steps.map(({ task_id }) => task_id)).size).toBe(1)
    expect(steps.map(({ step }) => step)).toEqual(steps.map((_, index) => index + 1))
    expect(steps.map(({ timestamp }) => timestamp)).toEqual(steps.map(({ timestamp }) => timestamp).sort())
    expect([steps[0]?.step_type, steps.at(-1)?.step_type]).toEqual(['task.start', 'task.end'])
  })
})

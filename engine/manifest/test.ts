// Running the tests a manifest carries, through the very evaluation the product uses (engine.md §4).
import type { Evaluation, Manifest } from '@svc/schemas'
import { compile, type PolicyInput } from '../policy/compile.js'
import { evaluate } from '../policy/evaluate.js'
import { newHistory, record } from '../policy/history.js'
import { canonicalType, type JsonMap, parseTimestamp, type Step } from '../steps.js'
import { materialise } from './materialise.js'

export type ManifestTest = NonNullable<Manifest['tests']>[number]

export interface TestResult {
  readonly name: string
  readonly passed: boolean
  /** What was decided, and which policies were violated, in order of the manifest. */
  readonly action: Evaluation['action']
  readonly violated: readonly string[]
  /** One sentence for each expectation that was not met. */
  readonly failures: readonly string[]
}

/** When a test's first step happens unless it says so: a Monday morning. Further steps follow a second apart. */
const begin = Date.UTC(2026, 0, 5, 9)

/** Runs every test of the manifest, or those of a sibling file, on its policies. */
export function runTests(manifest: Manifest, tests: readonly ManifestTest[] = manifest.tests ?? []): TestResult[] {
  const { policies } = materialise(manifest, { source: 'file', path: '', sha: '', agent: null, assigned_at: null, assigned_by: null })
  const set = compile(policies.map((policy, index): PolicyInput => ({ ...policy, id: index + 1, version: 1 })))
  return tests.map((test) => judge(set, test))
}

function judge(set: ReturnType<typeof compile>, test: ManifestTest): TestResult {
  const history = newHistory(set)
  const steps = [...(test.history ?? []), ...(test.step === undefined ? [] : [test.step])] as unknown as Step[]
  const times = timesOf(steps)
  for (const [index, step] of steps.slice(0, test.history?.length ?? 0).entries()) record(set, history, step, times[index] ?? begin)
  const step = test.step === undefined ? null : (test.step as unknown as Step)
  const agent: JsonMap = { ...test.agent, ...test.context }
  const now = test.now === undefined ? (times.at(-1) ?? begin) : (parseTimestamp(test.now) ?? begin)
  const { action, policies } = evaluate(set, scopesOf(step), { step, agent, context: test.context ?? agent, history, now })
  const violated = policies.filter((policy) => policy.violated).map((policy) => policy.name)
  const failures = failuresOf(test, action, violated)
  return { name: test.name, passed: failures.length === 0, action, violated, failures }
}

/** A test without a step is about the registration of its agent. */
function scopesOf(step: Step | null) {
  if (step === null) return ['agent_registration'] as const
  const ends = canonicalType(step.step_type) === 'task.end'
  return ends ? (['step_execution', 'task_execution'] as const) : (['step_execution'] as const)
}

function timesOf(steps: readonly Step[]): number[] {
  let last = begin - 1000
  return steps.map(({ timestamp }) => {
    const said = timestamp === undefined ? null : parseTimestamp(timestamp)
    last = said === null ? last + 1000 : Math.max(last, said)
    return last
  })
}

function failuresOf({ expect }: ManifestTest, action: string, violated: readonly string[]): string[] {
  const failures: string[] = []
  if (expect.action !== undefined && expect.action !== action) failures.push(`expected ${expect.action}, decided ${action}`)
  if (expect.violated === undefined) return failures
  const missing = expect.violated.filter((name) => !violated.includes(name))
  const extra = violated.filter((name) => !expect.violated?.includes(name))
  if (missing.length > 0) failures.push(`expected to be violated: ${missing.join(', ')}`)
  if (extra.length > 0) failures.push(`violated as well: ${extra.join(', ')}`)
  return failures
}

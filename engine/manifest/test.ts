// Running the tests of a manifest through the very evaluation the product uses (engine.md §4).
import type { Evaluation, Manifest } from '@svc/schemas'
import { compile, type PolicyInput, type PolicySet } from '../policy/compile.js'
import { evaluate } from '../policy/evaluate.js'
import { newHistory, record } from '../policy/history.js'
import type { RiskLevel } from '../policy/risk.js'
import { canonicalType, type JsonMap, parseTimestamp, type Step } from '../steps.js'
import { materialise, waivedUntil } from './materialise.js'
import type { ManifestTest } from './parse.js'

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
  const sets = new Map<string, PolicySet>()
  return tests.map((test) => {
    const key = JSON.stringify([test.agent?.risk_classification, test.agent?.agent_key])
    const set = sets.get(key) ?? policySetFor(manifest, test.agent ?? {})
    sets.set(key, set)
    return judge(set, test)
  })
}

const levels: ReadonlySet<unknown> = new Set(['minimal', 'limited', 'high', 'unacceptable', 'unclassified'])

/** The policies that the manifest puts on such an agent, waived where it says so. */
function policySetFor(manifest: Manifest, agent: JsonMap): PolicySet {
  const said = agent.risk_classification
  const risk_classification = levels.has(said) ? (said as RiskLevel) : 'unclassified'
  const { policies } = materialise(manifest, {
    source: 'file',
    path: '',
    sha: '',
    agent: { agent_id: '', risk_classification },
    assigned_at: null,
    assigned_by: null,
  })
  const waived =
    typeof agent.agent_key === 'string' ? waivedUntil(manifest, agent.agent_key) : new Map<string, number>()
  const inputs = policies.map((policy, index): PolicyInput => {
    const until = waived.get(policy.name)
    return { ...policy, id: index + 1, version: 1, ...(until !== undefined && { waived_until: until }) }
  })
  return compile(inputs)
}

function judge(set: PolicySet, test: ManifestTest): TestResult {
  const past = test.history ?? []
  const times = timesOf(test.step === undefined ? past : [...past, test.step])
  const history = newHistory(set)
  for (const [index, step] of past.entries()) record(set, history, step, times[index] ?? begin)
  const facts = factsOf(test)
  const now = parseTimestamp(test.now ?? '') ?? times.at(-1) ?? begin
  const situation = { step: test.step ?? null, agent: facts, context: facts, history, now }
  const { action, policies } = evaluate(set, scopesOf(situation.step), situation)
  const violated = policies.filter((policy) => policy.violated).map((policy) => policy.name)
  const failures = failuresOf(test, action, violated)
  return { name: test.name, passed: failures.length === 0, action, violated, failures }
}

/** The agent as registered, and over it what the caller said of it; both spellings of the tools mean the same. */
function factsOf({ agent, context }: ManifestTest): JsonMap {
  const { agent_allowed_tools, ...said } = context ?? {}
  return { ...agent, ...(agent_allowed_tools !== undefined && { declared_tools: agent_allowed_tools }), ...said }
}

/** A test without a step is about the registration of its agent. */
function scopesOf(step: Step | null) {
  if (step === null) return ['agent_registration'] as const
  const ends = canonicalType(step.step_type) === 'task.end'
  return ends ? (['step_execution', 'task_execution'] as const) : (['step_execution'] as const)
}

/** Times never decrease within a task. */
function timesOf(steps: readonly Step[]): number[] {
  let last = begin - 1000
  return steps.map(({ timestamp }) => {
    last = timestamp === undefined ? last + 1000 : Math.max(last, parseTimestamp(timestamp) ?? last)
    return last
  })
}

function failuresOf({ expect }: ManifestTest, action: string, violated: readonly string[]): string[] {
  const failures: string[] = []
  if (expect.action !== undefined && expect.action !== action)
    failures.push(`expected ${expect.action}, decided ${action}`)
  if (expect.violated === undefined) return failures
  const missing = expect.violated.filter((name) => !violated.includes(name))
  const extra = violated.filter((name) => !expect.violated?.includes(name))
  if (missing.length > 0) failures.push(`expected to be violated: ${missing.join(', ')}`)
  if (extra.length > 0) failures.push(`violated as well: ${extra.join(', ')}`)
  return failures
}

// Random manifests about the order of a few steps: a goal that the analysis calls blocked is never reached by random walks
// through the engine, and each path that it prints can be walked.
import { type compile, onAgent, parseManifest, Task } from '@svc/engine'
import type { JsonMap, Step } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analysisOf } from '../../support/engine/analysis.js'
import { runs } from '../../support/random.js'

const manifests = Number(process.env.SVC_FUZZ_MANIFESTS ?? runs(500, 80))
const walks = 40
const walkLength = 14
const seed = manifests

const names = ['a', 'b', 'c', 'd']
const oneOf = <T>(list: readonly T[]) => fc.constantFrom(...list)
const kind = fc.oneof(
  { weight: 4, arbitrary: oneOf(names).map((name) => ({ step_names: [name] })) },
  { weight: 1, arbitrary: oneOf(['step.gate', 'step.message', 'task.start']) },
)
const target = fc.oneof(
  { weight: 4, arbitrary: oneOf(names).map((name) => ({ target_step_names: [name] })) },
  {
    weight: 1,
    arbitrary: oneOf(['step.gate', 'step.message', 'task.end', 'task.start']).map((type) => ({
      target_step_types: [type],
    })),
  },
)
const rule = fc.oneof(
  kind.map((required_step_type) => ({ rule_type: 'step_requires_predecessor', params: { required_step_type } })),
  kind.map((step_type) => ({ rule_type: 'history_contains', params: { step_type } })),
  kind.map((required_step_type) => ({ rule_type: 'step_directly_preceded_by', params: { required_step_type } })),
  kind.map((predecessor_step_type) => ({ rule_type: 'step_not_after', params: { predecessor_step_type } })),
  oneOf([0, 1, 2]).chain((max_steps) =>
    kind.map((step_type) => ({ rule_type: 'execution_max_steps', params: { step_type, max_steps } })),
  ),
  fc
    .tuple(kind, kind)
    .map((forbidden_sequence) => ({ rule_type: 'sequence_forbidden', params: { forbidden_sequence } })),
  oneOf(['step.resource', 'step.message']).map((step_type) => ({ rule_type: 'current_is', params: { step_type } })),
  fc.constant({ rule_type: 'step_requires_gate', params: {} }),
)
const manifest = fc.array(fc.tuple(rule, target, fc.boolean()), { minLength: 2, maxLength: 7 }).map((all) => ({
  name: 'Random order',
  version: '1.0.0',
  policies: all.map(([{ rule_type, params }, own, asks], index) => ({
    name: `policy ${index}`,
    rule_type,
    params: { ...params, ...own },
    scope: 'step_execution',
    severity: 'critical',
    ...(asks && index % 5 === 4 && { approval: {} }),
  })),
}))

const steps: readonly Step[] = [
  ...names.flatMap((step_name) => [
    { step_type: 'step.resource', verb: 'POST', step_name },
    { step_type: 'step.message', verb: 'POST', step_name },
    { step_type: 'step.gate', step_name },
  ]),
  { step_type: 'step.gate', properties: { guard: { result: 'passed' } } },
  { step_type: 'step.message', verb: 'GET' },
  { step_type: 'step.exec' },
  { step_type: 'task.start' },
  { step_type: 'task.end' },
]
const wordsOf = ({ step_type, step_name }: Step) => [`\`${step_type}\``, `named \`${step_name}\``]
const agent: JsonMap = {}
type Set = ReturnType<typeof compile>

/** The steps of random walks that are allowed, in words; a walk goes on after a step that is not. */
function reachedIn(set: Set, choices: readonly (readonly number[])[]): ReadonlySet<string> {
  const reached = new Set<string>()
  for (const walk of choices) {
    const task = new Task(set)
    for (const [index, choice] of walk.entries()) {
      const step = steps[choice % steps.length] as Step
      const now = Date.UTC(2026, 0, 5, 9) + index * 1000
      const { outcome } = task.evaluate(step, agent, { now })
      // A person may give the approval that is asked for.
      if (outcome === 'block') continue
      for (const words of wordsOf(step)) reached.add(words)
      if (step.step_type === 'task.end') break
      task.add(step, now)
    }
  }
  return reached
}

describe('goals of random orders', () => {
  it(`that are blocked are not reached, in ${manifests} manifests with ${walks} walks each`, {
    timeout: 3_600_000,
  }, () => {
    const choices = fc.sample(fc.array(fc.nat(1000), { minLength: walkLength, maxLength: walkLength }), {
      numRuns: walks,
      seed,
    })
    const found = { blocked: 0, path: 0, neither: 0, findings: 0 }
    for (const one of fc.sample(manifest, { numRuns: manifests, seed })) {
      const text = JSON.stringify(one)
      const { value } = parseManifest(text, 'random.json')
      if (value === null) throw new Error(text)
      const { goals, findings } = analysisOf(text)
      const { set } = onAgent(value, agent)
      const reached = reachedIn(set, choices)
      found.findings += findings.filter(({ id }) => id === 'cannot-finish').length
      for (const { step, path, blocked_by } of goals) {
        found[path !== null ? 'path' : blocked_by.length > 0 ? 'blocked' : 'neither'] += 1
        if (blocked_by.length > 0) expect(reached.has(step), `${step} is reached: ${blocked_by} ${text}`).toBe(false)
      }
    }
    console.log(`goals of random orders: ${JSON.stringify(found)}`)
    expect(Math.min(found.blocked, found.path, found.findings)).toBeGreaterThan(10)
  })
})

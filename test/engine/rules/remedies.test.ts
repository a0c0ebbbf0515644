// A step that follows a remedy does not violate the policy again. The test follows the remedy of each violation of
// the cases, in its own task and in tasks with other steps, and evaluates the step again.

import { compile, materialise, Task } from '@svc/engine'
import { canonicalType, type JsonMap, parseTimestamp, type Step, type ViolationDetails } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { policiesFor, type RuleCase, ruleCases } from '../../support/engine/cases.js'

const occasions = { agent_registration: 'registration', step_execution: 'step', task_execution: 'end' } as const

interface Scene {
  readonly history: readonly Step[]
  readonly step: Step | null
  readonly facts: JsonMap
  /** ms since 1970 */
  readonly now: number
}

/** The text of a remedy, the words between backticks, and the parameters of its rule. */
interface RemedyInstructions {
  readonly names: readonly string[]
  readonly words: string
  readonly params: JsonMap
  readonly details: ViolationDetails
}

type Fix = (scene: Scene, instructions: RemedyInstructions) => Scene

function violationOf(rule: string, one: RuleCase, { history, step, facts, now }: Scene): ViolationDetails | null {
  const manifest = { name: rule, version: '1', policies: policiesFor(rule, one) }
  const assignment = { source: 'file', path: '', sha: '', agent: null, assigned_at: null, assigned_by: null }
  const { policies } = materialise(manifest, assignment)
  const set = compile(policies.map((policy, index) => ({ ...policy, id: index + 1, version: 1 })))
  const task = new Task(set)
  for (const recorded of history) task.add(recorded, timeOf(recorded))
  const results = task.evaluate(step, facts, { now, occasion: occasions[one.scope] }).policies
  return results.find(({ name }) => name === 'rule')?.violation_details ?? null
}

const timeOf = (step: Step) => parseTimestamp(step.timestamp ?? '') ?? 0

/** How to follow a remedy, by its words; the first match counts. */
const fixes: readonly (readonly [RegExp, Fix])[] = [
  [
    /^keep .* to at most .*, in a new task$/,
    (scene, { names, words }) =>
      onField({ ...scene, history: [] }, names[0], Number(/at most ([\d.e+-]+),/.exec(words)?.[1])),
  ],
  [
    /in a new task(?!,)|start of a new task|in later tasks$|^end this task|^spread the work over several tasks/,
    (scene) => ({ ...scene, history: [] }),
  ],
  [
    /^wait (\d+) seconds?$/,
    (scene, { words }) => ({ ...scene, now: scene.now + Number(/\d+/.exec(words)?.[0]) * 1000 }),
  ],
  [/^do not retry:/, (scene) => ({ ...scene, step: { step_type: 'task.end' } })],
  [/^wait for the hours from/, waitForHours],
  [
    /^do a step of another type first$/,
    (scene, { params }) => after(scene, { step_type: params.step_type === 'step.exec' ? 'step.self' : 'step.exec' }),
  ],
  [/^a passed step\.gate/, passGate],
  [
    /^(a|another) .*before this step/,
    (scene, instructions) => {
      const selected = selectedStep(instructions.params)
      return selected === null ? precedingStep(scene, instructions) : after(scene, selected)
    },
  ],
  [
    /^make it a/,
    (scene, { names, words, params }) =>
      onStep(scene, (step) => ({
        ...withFilter(step, params.property_filter),
        step_type: names[0] ?? '',
        ...verbIn(words),
        ...selectedStep(params),
      })),
  ],
  [/^a `[^`]+` (right )?before it$/, beforeInvalid],
  [
    /^log .* in this order in every task$/,
    (scene, { names }) => names.reduce<Scene>((longer, name) => after(longer, stepOf(name)), { ...scene, history: [] }),
  ],
  [/^log a `[^`]+` in every task$/, (scene, { names }) => after(scene, stepOf(names[0]))],
  [
    /^leave this to an agent of a risk level that may do it$/,
    (scene, { params }) => ({
      ...scene,
      facts: { ...scene.facts, risk_classification: levelOutside(params.agent_risk_classifications) },
    }),
  ],
  [
    /^give the step the name of its tool/,
    (scene, { names }) => {
      const [list] = names
      const named = onStep(scene, (step) => ({
        ...step,
        step_name: nameOf(first(scene.facts.declared_tools ?? 'book')),
      }))
      return list === undefined ? named : onFacts(named, list, [named.step?.step_name])
    },
  ],
  [
    /(add|list) `[^`]*` (to|in) `[^`]+` of the agent/,
    (scene, { words }) => onFacts(scene, /`([^`]+)` of the agent/.exec(words)?.[1] ?? '', [scene.step?.step_name]),
  ],
  [
    /^use one of the names /,
    (scene, { params }) => onStep(scene, (step) => ({ ...step, step_name: first(params.allowed) })),
  ],
  [
    /^use a host that is allowed: /,
    (scene, { words, params }) =>
      onField(scene, params.field ?? 'target.host', words.replace(/^[^:]*: /, '').split(', ')[0]),
  ],
  [
    /^keep .* inside the project root$/,
    (scene, { names }) => onField(scene, names[0], `${String(scene.facts.project_root).replace(/[\\/]+$/, '')}/inside`),
  ],
  [/^write `[^`]+` as a number/, (scene, { names }) => onField(scene, names[0], 1000.5)],
  [/^keep .* to at most/, (scene, { names, words }) => onField(scene, names[0], Number(/[\d.e-]+$/.exec(words)?.[0]))],
  [
    /^set `[^`]+` to (one of )?`/,
    (scene, { names, params }) =>
      onField(
        scene,
        names[0],
        Array.isArray(params.values) ? first(params.values.filter((value) => value !== null)) : names[1],
      ),
  ],
  [
    /^set .* to a number of/,
    (scene, { names, words }) => onField(scene, names[0], Number(/-?[\d.]+/.exec(words.replace(/`[^`]*`/, ''))?.[0])),
  ],
  [/^write `[^`]+` as a number/, (scene, { names }) => onField(scene, names[0], 1000.5)],
  [/^set `[^`]+`$/, (scene, { names }) => onField(scene, names[0], 'something')],
  [
    /^use a value that the user named/,
    (scene, { params }) =>
      (params.fields as string[]).reduce<Scene>((fixed, field) => onField(fixed, field, 'something'), named(scene)),
  ],
  [/^give `/, (scene, { names }) => onField(named(scene), names[0], 'something')],
  [
    /^shorten /,
    (scene, { names, words }) => onField(scene, names[0], 'x'.repeat(Number(/ (\d+) \w+$/.exec(words)?.[1]))),
  ],
  [/^remove it from/, (scene, { names }) => onField(scene, names[0], undefined)],
]

/** Remedies that a test cannot follow: a text that only the author of the pattern knows, or leaving the step out. */
const beyond =
  /^change (`|the policy)|^make `|^leave (?!the value out)|^put another step|^remove the text|__proto__|^set .* (once|to text|to text that matches .*)$|that matches `[^`]*` before this step|^write each field once$|^change this step so that|one of: |; and /

describe('the remedy', () => {
  const violations = ruleCases().filter(({ case: one }) => one.expect === 'violation')
  const compound = /^(all_of|any_of|not)$/
  const mended = new Set<RuleCase>()

  it.each(violations.map(({ rule, case: one }) => ({ rule, name: one.name, one })))(
    'of $rule, $name',
    ({ rule, one }) => {
      const details = violationOf(rule, one, sceneOf(one))
      expect(details?.remedy).toMatch(/^[^A-Z].*[^.]$/)
      expect(`${details?.remedy} ${details?.reason}`).not.toMatch(/undefined|\[object|NaN|\$\{/)
      for (const { step, step_type } of details?.evidence ?? [])
        expect(
          step === null ||
            one.history.some((past) => canonicalType(past.step_type) === canonicalType(step_type)) ||
            one.step?.step === step,
        ).toBe(true)
      if (compound.test(rule)) return
      fc.assert(
        fc.property(noise, (steps) => {
          const scene = sceneOf(one)
          const busier = { ...scene, history: [...stampedBefore(steps, scene), ...scene.history] }
          const found = violationOf(rule, one, busier)
          // The other steps may satisfy the rule.
          if (found === null || beyond.test(found.remedy ?? '')) return
          const again = violationOf(rule, one, fixedBy(busier, one.params, found))
          expect(again, `${found.remedy}`).toBeNull()
          mended.add(one)
        }),
        { numRuns: 15, examples: [[[]]] },
      )
    },
  )

  it('can be followed literally in nearly all cases', () => {
    const plain = violations.filter(
      ({ rule, case: one }) => !compound.test(rule) && !/AMBIGUOUS/.test(codeOf(rule, one)),
    )
    expect(mended.size / plain.length).toBeGreaterThan(0.85)
  })
})

function codeOf(rule: string, one: RuleCase): string {
  return violationOf(rule, one, sceneOf(one))?.code ?? ''
}

function sceneOf({ history, step, agent, context, now }: RuleCase): Scene {
  return { history, step, facts: { ...agent, ...context }, now: parseTimestamp(now) ?? 0 }
}

const noise = fc.array(
  fc.constantFrom<Step>(
    { step_type: 'task.start' },
    { step_type: 'step.model', verb: 'POST' },
    { step_type: 'step.message', verb: 'GET', output: { text: 'where is my refund' } },
    { step_type: 'step.custom' },
    { step_type: 'step.gate', output: { status: 'rejected' } },
  ),
  { maxLength: 5 },
)

function stampedBefore(steps: readonly Step[], { history, step, now }: Scene): Step[] {
  const begin = Math.min(now, ...[...history, ...(step === null ? [] : [step])].map(timeOf)) - 3_600_000
  return steps.map((one, index) => ({ ...one, timestamp: new Date(begin + index * 1000).toISOString() }))
}

function fixedBy(scene: Scene, params: JsonMap, details: ViolationDetails): Scene {
  const words = details.remedy ?? ''
  const fix = fixes.find(([pattern]) => pattern.test(words))?.[1]
  if (fix === undefined) throw new Error(`the test cannot follow: ${words}`)
  return fix(scene, { words, params, details, names: [...words.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '') })
}

function precedingStep(scene: Scene, { names, words, params }: RemedyInstructions): Scene {
  return after(scene, { ...stepOf(names[0], params.property_filter), ...verbIn(words) })
}

/** A step of the selector among the parameters; null when they name a step type. */
function selectedStep(params: JsonMap): Step | null {
  const selector = params.required_step_type ?? params.step_type
  if (typeof selector !== 'object' || selector === null) return null
  const { step_types, verbs, step_names, property_filter } = selector as JsonMap
  const step = stepOf(first(step_types ?? 'step.resource'), property_filter)
  return {
    ...step,
    ...(verbs !== undefined && { verb: first(verbs) }),
    ...(step_names !== undefined && { step_name: first(step_names) }),
  }
}

/** The scene with another step directly before the evaluated one. */
function after(scene: Scene, step: Step): Scene {
  return { ...scene, history: [...scene.history, { ...step, timestamp: new Date(scene.now).toISOString() }] }
}

function stepOf(type = '', filter?: unknown): Step {
  const passed = canonicalType(type) === 'step.gate' ? { output: { status: 'approved' } } : {}
  return withFilter({ step_type: type, ...passed }, filter)
}

function withFilter(step: Step, filter: unknown): Step {
  return Object.entries((filter ?? {}) as JsonMap).reduce(
    (made, [path, wanted]) => withField(made, path, acceptable(wanted)),
    step,
  )
}

/** A value that a filter's condition accepts. */
function acceptable(wanted: unknown): unknown {
  const { present, min, max } = (wanted ?? {}) as JsonMap
  return min ?? max ?? (present === true ? 'something' : first(wanted))
}

function verbIn(words: string): { verb?: string } {
  const verb = /\b(GET|POST|PATCH|DELETE)\b/.exec(words)?.[0]
  return verb === undefined ? {} : { verb }
}

function first(value: unknown): never {
  return (Array.isArray(value) ? value[0] : value) as never
}

function passGate(scene: Scene, { words, names }: RemedyInstructions): Scene {
  const check_type = words.includes('check_type') ? names[1] : undefined
  const [, action_digest] = /`([0-9a-f]{64})`/.exec(words) ?? []
  const bound = action_digest === undefined ? {} : { input: { action_digest } }
  const guard = check_type === undefined ? {} : { properties: { guard: { check_type } } }
  return after(scene, { ...stepOf('step.gate'), ...guard, ...bound })
}

function named(scene: Scene): Scene {
  const properties = { counterpart: { kind: 'user' } }
  return after(scene, { step_type: 'step.message', verb: 'GET', output: { text: 'use something.' }, properties })
}

/** Puts the missing step directly before the first invalid node: into the history, or before the step itself. */
function beforeInvalid(scene: Scene, { names, params, details }: RemedyInstructions): Scene {
  const missing = stepOf(names[0])
  // Where every node is checked, the missing one is checked too.
  if (params.target_node_types === undefined) return after({ ...scene, history: [] }, missing)
  let { history } = scene
  const [offence] = details.evidence
  const recorded = history.some((step) => step.step_type === offence?.step_type) && offence?.step !== null
  if (!recorded) return after(scene, missing)
  // Before every node of that type: another one may be invalid too.
  history = history.flatMap((step) => [{ ...missing, timestamp: step.timestamp ?? '' }, step])
  return { ...after({ ...scene, history }, missing) }
}

function waitForHours(scene: Scene, { words }: RemedyInstructions): Scene {
  const [, from, to, days = '', timeZone = ''] = /from (\d+) to (\d+)(?: on ([a-z, ]+))? in (\S+)$/.exec(words) ?? []
  const [start, end] = [Number(from), Number(to)]
  const local = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23', weekday: 'short' })
  const isMeant = (time: number) => {
    const parts = local.formatToParts(time)
    const part = (name: string) => parts.find(({ type }) => type === name)?.value ?? ''
    const hour = Number(part('hour'))
    // Before midnight, so that the day is the one on which the hours begin.
    const open = start < end ? hour >= start && hour < end : hour >= start
    return open && (days === '' || days.split(', ').includes(part('weekday').toLowerCase()))
  }
  const quarters = Array.from({ length: 8 * 96 }, (_, index) => scene.now + index * 900_000)
  return { ...scene, now: quarters.find(isMeant) ?? scene.now }
}

function nameOf(tool: string | { readonly name: string }): string {
  return typeof tool === 'string' ? tool : tool.name
}

const levels = ['minimal', 'limited', 'high', 'unacceptable', 'unclassified']

function levelOutside(listed: unknown): string | undefined {
  return levels.find((level) => !(listed as readonly string[]).includes(level))
}

function onStep(scene: Scene, change: (step: Step) => Step): Scene {
  return scene.step === null ? scene : { ...scene, step: change(scene.step) }
}

function onFacts(scene: Scene, path: string, value: unknown): Scene {
  return { ...scene, facts: withMember(scene.facts, path.split('.'), value) }
}

function onField(scene: Scene, path: unknown, value: unknown): Scene {
  const name = String(path)
  const own = /^(agent|context)\./.exec(name)?.[0]
  if (own !== undefined) return onFacts(scene, name.slice(own.length), value)
  if (scene.step === null) return onFacts(scene, name, value)
  return onStep(scene, (step) => withField(step, name, value))
}

const ofStep =
  /^(agent_id|task_id|timestamp|step|step_type|verb|step_name|input|output|properties|meta|is_external_call|has_write_permission)(\.|$)/

/** The step with the field set, in any spelling; undefined removes it. */
function withField(step: Step, path: string, value: unknown): Step {
  if (ofStep.test(path)) return withMember({ ...step }, path.split('.'), value) as unknown as Step
  const [top = ''] = path.split('.')
  const others = Object.entries(step.properties ?? {}).filter(([key]) => key !== top && !key.startsWith(`${top}.`))
  const { is_external_call, ...rest } = step
  const flag = path === 'target.trust' || is_external_call === undefined ? {} : { is_external_call }
  return {
    ...rest,
    ...flag,
    properties: { ...Object.fromEntries(others), ...(value !== undefined && { [path]: value }) },
  }
}

function withMember(root: JsonMap, [key = '', ...rest]: readonly string[], value: unknown): JsonMap {
  const { [key]: old, ...others } = root
  if (rest.length === 0) return value === undefined ? others : { ...others, [key]: value }
  const inner = typeof old === 'object' && old !== null && !Array.isArray(old) ? (old as JsonMap) : {}
  return { ...others, [key]: withMember(inner, rest, value) }
}

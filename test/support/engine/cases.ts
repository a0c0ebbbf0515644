// The rule cases: data that the engine, the local server and the platform evaluate with equal answers.
import { readdirSync, readFileSync } from 'node:fs'
import { lazyCheck, type Scope } from '@svc/engine/parts'
import { type JsonMap, type Manifest, type PolicyResult, parseTimestamp, type Step } from '@svc/schemas'
import { parse } from 'yaml'

type RuleAnswer = 'pass' | 'not_applicable' | 'violation'

/** One case, with a timestamp on every step and all defaults filled in. */
export interface RuleCase {
  readonly name: string
  readonly params: JsonMap
  readonly scope: Scope
  readonly agent: JsonMap
  readonly context: JsonMap
  /** When the step is evaluated, RFC 3339; also the timestamp of `step` unless it has its own. */
  readonly now: string
  readonly history: readonly Step[]
  /** Null at registration. */
  readonly step: Step | null
  /** The step is recorded, not intended. */
  readonly happened?: boolean
  readonly expect: RuleAnswer
  readonly code?: string
  /** Numbers of the steps in the evidence; null is the evaluated step. */
  readonly evidence?: readonly (number | null)[]
  readonly reason?: string
  readonly remedy?: string
  readonly remedy_steps?: readonly JsonMap[]
}

type WrittenCase = Partial<RuleCase> & Pick<RuleCase, 'name' | 'params' | 'expect'>

const folder = new URL('../../cases/rules/', import.meta.url)

const checkCases = lazyCheck({
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    required: ['name', 'params', 'expect'],
    additionalProperties: false,
    properties: {
      name: { type: 'string' },
      params: { type: 'object' },
      scope: { type: 'string', enum: ['agent_registration', 'step_execution', 'task_execution'] },
      agent: { type: 'object' },
      context: { type: 'object' },
      now: { type: 'string', format: 'date-time' },
      history: { type: 'array', items: { type: 'object', required: ['step_type'] } },
      step: { type: 'object', required: ['step_type'] },
      happened: { type: 'boolean' },
      expect: { type: 'string', enum: ['pass', 'not_applicable', 'violation'] },
      code: { type: 'string' },
      evidence: { type: 'array', items: { type: ['integer', 'null'] } },
      reason: { type: 'string' },
      remedy: { type: 'string' },
      remedy_steps: { type: 'array', items: { type: 'object' } },
    },
  },
})

/** Every case of every rule, in the order of the files. Throws for an invalid file. */
export function ruleCases(): { rule: string; case: RuleCase }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .flatMap((name) => {
      const written: unknown = parse(readFileSync(new URL(name, folder), 'utf8'))
      const [problem] = checkCases(written)
      if (problem !== undefined) throw new Error(`${name}, ${problem.path.join('.')}: ${problem.message}`)
      return (written as WrittenCase[]).map((one) => ({ rule: name.replace('.yaml', ''), case: filled(one) }))
    })
}

/**
 * Two policies that distinguish the three answers wherever they are evaluated: a rule that passes is violated inside
 * `not`, a rule that is not applicable is not.
 */
export function policiesFor(
  rule_type: string,
  { params, scope }: Pick<RuleCase, 'params' | 'scope'>,
): Manifest['policies'] {
  const condition = { rule_type, params }
  const names = {
    rule_type: rule_type as Manifest['policies'][number]['rule_type'],
    scope,
    severity: 'critical' as const,
  }
  return [
    { ...names, name: 'rule', params },
    { ...names, name: 'negation', rule_type: 'not', params: { condition } },
  ]
}

/** The answer that follows from the results of the two policies. */
export function answerOf(results: readonly PolicyResult[]): RuleAnswer {
  const violated = (name: string) => {
    const result = results.find((candidate) => candidate.name === name)
    if (result === undefined) throw new Error(`no result for the policy \`${name}\``)
    return result.violated
  }
  if (violated('rule')) return 'violation'
  return violated('negation') ? 'pass' : 'not_applicable'
}

/** A Monday morning. Steps without a timestamp follow one second apart. */
const begin = Date.UTC(2026, 0, 5, 9)

function filled(written: WrittenCase): RuleCase {
  let last = begin - 1000
  const stamped = (step: Step): Step => {
    last = step.timestamp === undefined ? last + 1000 : (parseTimestamp(step.timestamp) ?? last)
    return { ...step, timestamp: new Date(last).toISOString() }
  }
  const { now, history = [], step = null, ...rest } = written
  const past = history.map(stamped)
  const current =
    step === null ? null : stamped(now === undefined || step.timestamp ? step : { ...step, timestamp: now })
  return {
    scope: 'step_execution',
    agent: {},
    context: {},
    ...rest,
    history: past,
    step: current,
    now: now ?? new Date(last).toISOString(),
  }
}

// The rule cases once more, through the local engine: the same data, the same answers.
import { createChecker } from '@svc/engine/parts'
import { documents, type Evaluation } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { answerOf, policiesFor, type RuleCase, ruleCases } from '../../support/engine/cases.js'
import { type Serve, startServe } from '../../support/engine/serve.js'

const whole = { environment: 'development', risk_classification: 'limited' }
const check = createChecker(Object.values(documents))

/** The request that evaluates the step of the case. */
function requestOf(
  { agent, context, step }: RuleCase,
  task_id: string,
): { path: string; schema: string; body: object } {
  const { attributes, ...fields } = agent
  if (step === null) {
    const body = { agent_key: task_id, ...fields, ...(attributes as object) }
    return { path: '/register_agent', schema: 'agent-registration.json', body }
  }
  const body = { intended: step, context: { agent_id: 'agent', task_id, ...whole, ...agent, ...context } }
  return { path: '/evaluate', schema: 'evaluate-request.json', body }
}

/**
 * True for a case that a request cannot express: the clock is the server's own, the context always has four members,
 * bodies match their schemas, a step recorded as blocked ends its task, and what is evaluated has not happened yet.
 */
function isInexpressible(one: RuleCase): boolean {
  const { schema, body } = requestOf(one, 'task')
  const histories = one.history.map((step) => check('record-request.json')({ step: { task_id: 'task', ...step } }))
  return (
    one.happened === true ||
    // The context declares the tools, which a registration does not.
    (one.params.tool_calls === true && one.step?.verb === 'GET') ||
    // The context always names a level.
    (/agent_risk_classifications/.test(JSON.stringify(one.params)) &&
      !('risk_classification' in { ...one.agent, ...one.context })) ||
    /window_seconds|max_age_seconds|timezone/.test(JSON.stringify(one.params)) ||
    /"(agent\.|context\.)?(agent_id|task_id|environment|risk_classification)"/.test(JSON.stringify(one.params)) ||
    [check(schema)(body), ...histories].some((problems) => problems.length > 0) ||
    one.history.some(({ output }) => output?.status === 'blocked')
  )
}

const cases = ruleCases().map(({ rule, case: one }, index) => ({ rule, one, index }))
const expressible = cases.filter(({ one }) => !isInexpressible(one))

/** A step is evaluated by the policies of all files: few for each engine take less time. */
const engines = 8
const groups = Array.from({ length: engines }, (_, number) => ({
  number,
  group: expressible.filter((_case, index) => index % engines === number),
}))

it('the rule cases over HTTP cover nearly every rule', () => {
  const rules = (list: typeof cases) => new Set(list.map(({ rule }) => rule))
  const missing = [...rules(cases)].filter((rule) => !rules(expressible).has(rule))
  expect(missing.sort()).toEqual(['step_rate_limit', 'working_hours_only'])
  expect(expressible.length).toBeGreaterThan(cases.length / 2)
})

describe.each(groups)('the rule cases over HTTP, engine $number', ({ group }) => {
  let serve: Serve
  beforeAll(async () => {
    const files = group.map(({ rule, one, index }): [string, string] => {
      const policies = policiesFor(rule, one).map((policy) => ({ ...policy, severity: 'low', name: `${policy.name}` }))
      return [`case-${index}.yaml`, stringify({ name: `case ${index}`, version: '1', policies })]
    })
    const flags = files.flatMap(([name]) => ['--policy-file', name])
    serve = await startServe([...flags, '--log-location', 'none'], Object.fromEntries(files))
  })
  afterAll(() => serve.discard())

  it.each(group)('$rule: $one.name', async ({ one, index }) => {
    const task_id = `case ${index}`
    const manifest = group.findIndex((other) => other.index === index)
    for (const step of one.history) {
      const recorded = await serve.post('/record', { step: { ...step, task_id } })
      expect([recorded.status, recorded.body]).toEqual([200, expect.anything()])
    }
    const { path, body: sent } = requestOf(one, task_id)
    const { status, body } = await serve.post<Evaluation>(path, sent)
    expect([status, body]).toEqual([200, expect.anything()])
    const own = body.policies.filter(({ policy_id }) => Math.ceil(policy_id / 2) === manifest + 1)
    expect(answerOf(own)).toBe(one.expect)
    const details = own.find(({ name }) => name === 'rule')?.violation_details
    if (one.code !== undefined) expect(details?.code).toBe(one.code)
    if (one.reason !== undefined) expect(details?.reason).toBe(one.reason)
    if (one.remedy !== undefined) expect(details?.remedy).toBe(one.remedy)
    if (one.evidence !== undefined) expect(details?.evidence.map(({ step }) => step)).toEqual(one.evidence)
  })
})

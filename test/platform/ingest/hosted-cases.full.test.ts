// The rule cases through hosted evaluation: the same data and results as in the engine.
import { createChecker } from '@svc/engine/parts'
import { type BatchAnswer, documents, type Evaluation } from '@svc/schemas'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerOf, policiesFor, type RuleCase, ruleCases } from '../../support/engine/cases.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
const check = createChecker(Object.values(documents))
const cases = ruleCases().map(({ rule, case: one }, index) => ({ rule, one, index }))

/** Tools that a context declares narrow those of the registration. */
function registrationOf({ agent }: RuleCase, index: number) {
  const { attributes, registered_tools, ...fields } = agent
  const tools = registered_tools === undefined ? {} : { declared_tools: registered_tools }
  return { ...fields, ...tools, ...(attributes as object), agent_key: `case ${index}` }
}

function contextOf({ agent, context }: RuleCase) {
  return agent.registered_tools === undefined ? context : { ...context, declared_tools: agent.declared_tools }
}

/** Whether the API cannot express a case: agents always have a risk level and an environment, and bodies have schemas. */
function isInexpressible(one: RuleCase): boolean {
  const { step, history, context, agent, happened = false } = one
  // The API evaluates intended steps.
  if (step === null || happened) return true
  const params = JSON.stringify(one.params)
  const always = /"((agent|context)\.)?(agent_id|agent_key|task_id|environment|risk_classification|name)"/
  const logged = history.map((past, index) => ({ task_id: 't', agent_id: 'a', step: index + 1, ...past }))
  return (
    always.test(params) ||
    // A logged step always has the flags.
    /"(target\.trust|is_external_call)":null/.test(params) ||
    (/agent_risk_classifications/.test(params) && !('risk_classification' in { ...agent, ...context })) ||
    Object.keys(context).some((key) => key in agent) ||
    (one.scope === 'task_execution' && step.step_type !== 'task.end') ||
    new Set(logged.map((entry) => entry.step)).size < logged.length ||
    check('agent-registration.json')(registrationOf(one, 0)).length > 0 ||
    check('hosted-evaluate-request.json')({ intended: step, context }).length > 0 ||
    logged.some((entry) => check('log-request.json')(entry).length > 0)
  )
}

const expressible = cases.filter(({ one }) => !isInexpressible(one))
/** Of so many cases of a rule one is sent, which one differs between runs; SVC_HOSTED_EACH=1 sends all. */
const each = Number(process.env.SVC_HOSTED_EACH ?? 3)
const first = Date.now() % each
const sent = expressible.filter((found) => {
  const ofRule = expressible.filter(({ rule }) => rule === found.rule)
  return ofRule.length < each || ofRule.indexOf(found) % each === first
})

describe.skipIf(postgres === null)('the rule cases through the platform', () => {
  let platform: TestPlatform
  const agents = new Map<number, string>()

  beforeAll(async () => {
    if (postgres === null) return
    const database_url = postgres.freshDatabase()
    platform = await startPlatform({ database_url })
    for (const { one, index } of sent) {
      const { status, body } = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', {
        as: 'key',
        body: registrationOf(one, index),
      })
      expect([status, body]).toEqual([201, expect.anything()])
      agents.set(index, body.agent_id)
    }
    const client = new Client({ connectionString: database_url })
    await client.connect()
    let id = 1_000_000
    for (const { rule, one, index } of sent) {
      for (const policy of policiesFor(rule, one)) {
        await client.query(
          `insert into policies (org_id, id, name, rule_type, params, scope, severity, agent_id, enabled, mode, controls,
             version, created_at, updated_at)
           select org_id, $1, $2, $3, $4, $5, 'low', agent_id, true, 'enforce', '{}', 1, now(), now()
           from agents where agent_id = $6`,
          [id++, policy.name, policy.rule_type, JSON.stringify(policy.params), policy.scope, agents.get(index)],
        )
      }
    }
    await client.end()
  })
  afterAll(async () => {
    if (postgres !== null) await discard(platform)
  })

  it('cover every rule that evaluates steps', () => {
    const rules = (list: typeof cases) => new Set(list.map(({ rule }) => rule))
    expect([...rules(cases)].filter((rule) => !rules(sent).has(rule))).toEqual([])
    expect(expressible.length).toBeGreaterThan(cases.length / 2)
  })

  it.each(sent)('$rule: $one.name', async ({ one, index }) => {
    const task_id = `case ${index}`
    const agent_id = agents.get(index)
    const entries = one.history.map((past, position) => ({ step: position + 1, ...past, agent_id, task_id }))
    if (entries.length > 0) {
      const logged = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
      expect([logged.status, logged.body.results.filter(({ entry }) => entry === undefined)]).toEqual([200, []])
    }
    const { agent_id: _agent, task_id: _task, ...step } = one.step ?? { step_type: '' }
    const intended = { timestamp: one.now, ...step }
    const body = { intended, context: { ...contextOf(one), agent_id, task_id } }
    const answer = await platform.call<Evaluation>('POST', '/api/v1/engine/evaluate', { as: 'key', body })
    expect([answer.status, answer.body]).toEqual([200, expect.anything()])
    const own = answer.body.policies.filter(({ policy_id }) => policy_id >= 1_000_000)
    expect(answerOf(own)).toBe(one.expect)
    const details = own.find(({ name }) => name === 'rule')?.violation_details
    if (one.code !== undefined) expect(details?.code).toBe(one.code)
    if (one.reason !== undefined) expect(details?.reason).toBe(one.reason)
    if (one.remedy !== undefined) expect(details?.remedy).toBe(one.remedy)
  })
})

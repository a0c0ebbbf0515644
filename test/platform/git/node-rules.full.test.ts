// The rules of the platform from a manifest in Git to the answer of POST /api/v1/logs and the incident.
import { readFileSync } from 'node:fs'
import type { IncidentList, LoggedStep, PolicyList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type ManifestsInGit, manifestPath, openManifestsInGit } from '../../support/git/manifests-in-git.js'

type WrittenStep = string | { readonly step_type: string; readonly [name: string]: unknown }
interface RuleCase {
  readonly name?: string
  readonly rule_type: string
  readonly scope?: 'step_execution' | 'task_execution'
  readonly params: object
  readonly passes: readonly WrittenStep[]
  readonly violates: readonly WrittenStep[]
  readonly violations: readonly number[]
  readonly code?: string
}
interface Cases {
  readonly rules: readonly RuleCase[]
  readonly levels: Readonly<Record<string, readonly (string | null)[]>>
}
const cases = parse(readFileSync(new URL('../../cases/node-rules.yaml', import.meta.url), 'utf8')) as Cases
const severities = ['low', 'medium', 'high', 'critical'] as const
const named = cases.rules.map((one, index) => ({
  ...one,
  scope: one.scope ?? 'step_execution',
  severity: severities[index % severities.length] ?? 'low',
  title: [one.rule_type, one.name].filter(Boolean).join(', '),
}))

let git: ManifestsInGit
beforeAll(async () => {
  git = await openManifestsInGit()
})
afterAll(() => git.close())

/** An agent with this manifest alone. */
async function agentWith(policies: readonly object[], risk_classification: string): Promise<string> {
  const { id } = await git.connect({
    [manifestPath]: JSON.stringify({ name: 'Rules', version: '1', policies }),
  })
  const { agent_id } = await git.register({ risk_classification, owner_id: 'mia', purpose: 'refunds' })
  const { assignments } = (
    await git.platform.call<{ assignments: { id: number }[] }>('GET', `/api/v1/assignments?agent_id=${agent_id}`)
  ).body
  for (const one of assignments) await git.platform.call('DELETE', `/api/v1/assignments/${one.id}`)
  const made = await git.assign(agent_id, id)
  expect([made.status, made.body]).toEqual([201, made.body])
  return agent_id
}

/** Logs the task step by step; returns the violations of each answer. */
async function log(agent_id: string, task_id: string, steps: readonly WrittenStep[]) {
  const answers: LoggedStep['violations'][] = []
  for (const [index, step] of steps.entries()) {
    const written = typeof step === 'string' ? { step_type: step } : step
    const timestamp = new Date(Date.UTC(2026, 0, 5, 9, 0, index)).toISOString()
    const body = { ...written, agent_id, task_id, step: index + 1, timestamp }
    const { status, body: answer } = await git.platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })
    expect([status, answer]).toEqual([201, answer])
    answers.push(answer.violations)
  }
  return answers
}

/** Without those of the registration, which the baseline reports. */
const incidentsOf = async (agent_id: string) => {
  const path = `/api/v1/incidents?agent_id=${agent_id}&limit=200`
  const { incidents } = (await git.platform.call<IncidentList>('GET', path)).body
  return incidents.filter(({ task_id }) => task_id !== null)
}

describe('the cases', () => {
  it('have every rule of the platform', () => {
    expect([...new Set(named.map(({ rule_type }) => rule_type))].sort()).toEqual([
      'execution_contains_node_before_current',
      'execution_max_tool_calls',
      'execution_requires_node_sequence',
      'field_in_list',
      'field_matches_regex',
      'field_not_empty',
      'node_directly_preceded_by',
      'node_forbidden_for_agent_classification',
      'node_requires_predecessor',
    ])
  })
})

describe('a rule', () => {
  it.each(named)('$title', async ({ title, rule_type, params, scope, severity, ...one }) => {
    const agent_id = await agentWith([{ name: title, rule_type, params, scope, severity }], 'limited')
    expect((await log(agent_id, `passes ${title}`, one.passes)).flat()).toEqual([])
    expect(await incidentsOf(agent_id)).toEqual([])
    const answers = await log(agent_id, `violates ${title}`, one.violates)
    const numbers = answers.flatMap((violations, index) => violations.map(() => index + 1))
    expect(numbers).toEqual(one.violations)
    for (const violation of answers.flat()) {
      expect(violation).toMatchObject({ name: title, severity, mode: 'enforce', waived: false })
      expect(violation.violation_details.rule_type).toBe(rule_type)
      if (one.code !== undefined) expect(violation.violation_details.code).toBe(one.code)
    }
    const incidents = await incidentsOf(agent_id)
    expect(incidents.map((incident) => [incident.policy_name, incident.severity, incident.state])).toEqual([
      [title, severity, 'open'],
    ])
    expect(incidents[0]).toMatchObject({ scope, task_id: `violates ${title}`, step: one.violations[0] })
    expect(incidents[0]?.occurrences).toBe(one.violations.length)
  })

  it('of a step and of a task are both evaluated at the end', async () => {
    const ofScope = (name: string, scope: string) => ({
      name,
      rule_type: 'node_requires_predecessor',
      params: { required_predecessor_type: 'APPROVAL', target_node_types: ['END_NODE'] },
      scope,
      severity: 'high',
    })
    const agent_id = await agentWith([ofScope('step', 'step_execution'), ofScope('task', 'task_execution')], 'limited')
    const answers = await log(agent_id, 'both', ['START_NODE', 'TOOL_CALL', 'END_NODE'])
    expect(answers.map((violations) => violations.map(({ name }) => name))).toEqual([[], [], ['step', 'task']])
  })
})

describe('an agent whose level is', () => {
  const levels = ['minimal', 'limited', 'high', 'unacceptable', null] as const
  const nameOf = (level: string | null) => `for ${level ?? 'every level'}`
  const policies = levels.map((risk_classification) => ({
    name: nameOf(risk_classification),
    rule_type: 'field_in_list',
    params: { field: 'step_type', values: ['START_NODE'] },
    scope: 'step_execution',
    severity: 'medium',
    ...(risk_classification !== null && { risk_classification }),
  }))

  it.each(Object.entries(cases.levels))('%s is evaluated under the policies %j', async (level, applied) => {
    const agent_id = await agentWith(policies, level)
    const names = levels.filter((one) => applied.includes(one)).map(nameOf)
    const [assigned] = (
      await git.platform.call<{ assignments: { skipped: string[] }[] }>(
        'GET',
        `/api/v1/assignments?agent_id=${agent_id}`,
      )
    ).body.assignments
    expect(assigned?.skipped).toEqual(levels.filter((one) => !applied.includes(one)).map(nameOf))
    const stored = (
      await git.platform.call<PolicyList>('GET', `/api/v1/policies?agent_id=${agent_id}&enabled=true&limit=200`)
    ).body
    expect(stored.policies.map(({ name }) => name)).toEqual(names)
    const answers = await log(agent_id, level, ['START_NODE', 'LLM_CALL'])
    expect(answers.map((violations) => violations.map(({ name }) => name))).toEqual([[], names])
    expect((await incidentsOf(agent_id)).map(({ policy_name }) => policy_name).sort()).toEqual([...names].sort())
  })
})

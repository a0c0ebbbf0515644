// `svc explain`: the result of each policy on a recorded step, with the reason.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/engine/serve.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-explain-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const trace = (name: string, steps: readonly object[]) =>
  file(name, steps.map((step) => `${JSON.stringify(step)}\n`).join(''))

const manifest = file(
  'refunds.yaml',
  `
name: Refund desk
version: "1"
policies:
  - name: Refunds need a fresh approval
    rule_type: step_requires_gate
    params: {target_step_names: [refund], max_age_steps: 1}
    severity: critical
    scope: step_execution
  - {name: Steps have names, rule_type: field_not_empty, params: {field: step_name}, severity: low, scope: step_execution}
  - {name: Few commands, rule_type: execution_max_steps, params: {step_type: step.exec, max_steps: 3}, severity: high, scope: step_execution}
  - {name: For high risk, rule_type: field_not_empty, params: {field: verb}, severity: low, scope: step_execution, risk_classification: high}
`,
)
const start = { step_type: 'task.start', task_id: 't1', meta: { agent: { risk_classification: 'limited' } } }
const refund = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', task_id: 't1' }
const steps = [start, { step_type: 'step.gate', task_id: 't1' }, { step_type: 'step.model', task_id: 't1' }, refund]

describe('svc explain', () => {
  it('prints the blocking policy with its evidence and its remedy', async () => {
    const { code, out, err } = await runSvc(['explain', manifest, '--trace', trace('t.jsonl', steps), '--step', '4'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toBe(`step 4 of task \`t1\`: step.resource POST refund
block, risk score 1: 1 of 3 policies violated

blocks  Refunds need a fresh approval  (critical; step_requires_gate)
  why      the gate at step 2 is 2 steps old, at most 1 are allowed [GATE_STALE]
  because  step 2 (step.gate)
  remedy   a passed step.gate right before this step

passed
  Steps have names  (field_not_empty)

not applicable
  Few commands  (execution_max_steps)

for a higher risk level than the agent’s
  For high risk
`)
  })

  it('prints the same as JSON, with the agent from a file', async () => {
    const agent = file('agent.yaml', 'risk_classification: high\n')
    const args = ['explain', manifest, '--trace', trace('t.jsonl', steps), '--step', '4', '--agent', agent, '--json']
    const { code, out } = await runSvc(args)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      task_id: 't1',
      step: 4,
      evaluated: refund,
      action: 'block',
      outcome: 'block',
      risk_score: 1,
      skipped: [],
      policies: [
        { answer: 'violated', violation_details: { code: 'GATE_STALE', evidence: [{ step: 2 }, { step: null }] } },
        { answer: 'passed' },
        { answer: 'not_applicable' },
        { answer: 'passed' },
      ],
    })
  })

  const desk = file(
    'desk.yaml',
    `
name: Desk
version: "1"
policies:
  - name: Money goes to known accounts
    description: >-
      An account that only content of others
      gave needs the consent of a person.
    rule_type: value_from
    params: {fields: [input.to], from: {property_filter: {content.trust: own}}, target_step_names: [pay]}
    severity: critical
    scope: step_execution
    approval: {check_type: human_approval, binds: [step_name, input.to]}
  - name: Nothing is deleted after content of others
    rule_type: tainted_path_block
    params: {taint_step_type: {property_filter: {content.trust: [third_party, public]}}, target_verbs: [DELETE]}
    severity: critical
    scope: step_execution
`,
  )
  const read = {
    task_id: 't1',
    step_type: 'step.self',
    verb: 'GET',
    step_name: 'notes',
    output: { text: 'pay acct-9' },
  }
  const labelled = { ...read, meta: { 'svc.memory': { trust: 'third_party', parts: [] } } }
  const pay = { task_id: 't1', step_type: 'step.resource', verb: 'POST', step_name: 'pay', input: { to: 'acct-9' } }
  const drop = { task_id: 't1', step_type: 'step.resource', verb: 'DELETE', step_name: 'drop' }
  it.each([
    {
      what: 'what the policy is for, who wrote the value, and what a person approves',
      step: pay,
      lines: `ask (a person decides), risk score 1: 1 of 2 policies violated

asks  Money goes to known accounts  (critical; value_from)
  policy   An account that only content of others gave needs the consent of a person.
  why      a value in \`input.to\` is in no message of the user and in no output of a step with content of the organization (\`content.trust\` \`own\`); it first appeared in the output of step 2 \`notes\` [VALUE_NOT_GIVEN]
  because  step 2 notes (step.self; memory that holds content of others, third_party)
  remedy   use a value that the user named in a message, or that a step with content of the organization (\`content.trust\` \`own\`) returned

approval required: once a person has approved \`step_name\`, \`input.to\` of this step, record this gate
  not approved, and free to change: \`verb\`
  {"step":{`,
    },
    {
      what: 'after which step it must not come',
      step: drop,
      lines: `blocks  Nothing is deleted after content of others  (critical; tainted_path_block)
  why      this step must not come after a step with content of others (\`content.trust\` one of \`third_party\`, \`public\`) [TAINTED]
  because  step 2 notes (step.self; memory that holds content of others, third_party)
`,
    },
  ])('prints in words $what', async ({ step, lines }) => {
    const path = trace('memory.jsonl', [start, labelled, step])
    const { code, out } = await runSvc(['explain', desk, '--trace', path, '--step', '3'])
    expect(code).toBe(0)
    expect(out).toContain(lines)
  })

  it('reads the trace of the local engine and prints no control characters', async () => {
    const lines = [
      { kind: 'step', recorded_at: '2026-01-05T09:00:00Z', ...refund, step_name: 'refund\u001b[2J', step: 1 },
      { kind: 'incident', recorded_at: '2026-01-05T09:00:00Z', violation: {} },
    ]
    const { code, out } = await runSvc(['explain', manifest, '--trace', trace('e.jsonl', lines), '--step', '1'])
    expect(code).toBe(0)
    expect(out).toContain('refund�[2J')
  })

  const continued = trace('again.jsonl', [
    { kind: 'step', ...start },
    { kind: 'step', task_id: 't1', step_type: 'step.gate' },
    { kind: 'step', task_id: 't2', step_type: 'step.gate' },
    { kind: 'end', recorded_at: '2026-01-05T09:00:00Z', task_id: 't1', step: 3 },
    { kind: 'step', ...start, step: 4 },
    { kind: 'step', ...refund, step: 5 },
    { kind: 'end', recorded_at: '2026-01-05T09:00:00Z', task_id: 't1' },
  ])
  it('explains a step after an end of its task with the whole history, without the gates before the end', async () => {
    const { code, out, err } = await runSvc(['explain', manifest, '--trace', continued, '--task', 't1', '--step', '5'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('step 5 of task `t1`: step.resource POST refund')
    expect(out).toContain('Refunds need a fresh approval  (critical')
    expect(out).toContain('; task `t1` ended at step 3: use a new id for each run')
  })

  const invalid = '  - {name: Bad, rule_type: nothing, scope: step_execution, severity: critical}\n'
  const valid =
    '  - {name: Good, rule_type: field_not_empty, params: {field: step_name}, scope: step_execution, severity: low}\n'
  const head = 'name: Desk\nversion: "1"\npolicies:\n'
  it.each([
    { what: 'one of two policies', policies: invalid + valid, out: 'Good', message: 'lacks the invalid parts' },
    { what: 'the only policy', policies: invalid, out: '', message: 'has no valid policy' },
  ])('ends with 2 when $what is invalid', async ({ policies, out, message }) => {
    const path = file('partly.yaml', head + policies)
    const answer = await runSvc(['explain', path, '--trace', trace('one.jsonl', [refund]), '--step', '1'])
    expect(answer.code).toBe(2)
    expect(answer.out).toContain(out)
    expect(answer.err).toMatch(/partly\.yaml:4:\d+: .*`nothing`/)
    expect(answer.err).toContain(message)
  })

  const broken = file('broken.yaml', 'name: x\n')
  const several = trace('several.jsonl', [refund, { ...refund, task_id: 't2' }])
  it.each([
    { args: [manifest, '--trace', several, '--step', '1'], code: 1, message: 'choose one with `--task` (`t1`, `t2`)' },
    { args: [manifest, '--trace', several, '--step', '9', '--task', 't2'], code: 1, message: '`t2` has no step 9' },
    { args: [manifest, '--trace', several, '--step', '1', '--task', 't3'], code: 1, message: 'no steps of task `t3`' },
    { args: [manifest, '--trace', join(folder, 'gone'), '--step', '1'], code: 1, message: 'does not exist' },
    {
      args: [manifest, '--trace', file('bad.jsonl', '{"step_type": 1}\n'), '--step', '1'],
      code: 1,
      message: 'bad.jsonl:1',
    },
    { args: [broken, '--trace', several, '--step', '1'], code: 1, message: 'broken.yaml:1:1' },
    { args: [manifest, '--trace', several, '--step', '0'], code: 2, message: 'a number from 1' },
    { args: [manifest, '--step', '1'], code: 2, message: '--trace' },
  ])('ends with $code and prints $message', async ({ args, code, message }) => {
    const answer = await runSvc(['explain', ...args])
    expect(answer.code).toBe(code)
    expect(answer.err).toContain(message)
  })
})

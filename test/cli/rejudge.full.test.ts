// `svc verify --rejudge` as an auditor sees it, and with bundles of a hostile writer who holds the key of the log.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { PolicyInput } from '@svc/engine'
import { formatVerifier, signerOf } from '@svc/proof'
import type { BundleVerdict, JsonMap } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { openAuditorFolder, verifyWithBoth } from '../support/log/bundle.js'
import { bundleOf, policiesOf, SketchedLog, trust } from '../support/log/sketched-log.js'

const auditor = openAuditorFolder()
afterAll(() => auditor.clear())
const policy = auditor.put('trust.policy', trust)
const otherKey = signerOf('log.example/org/org_sketch/1', 'note', Buffer.alloc(32, 2)).verifier
const refund = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input: { amount: 5 } }
const twoRefunds = { rule_type: 'execution_max_steps', params: { step_type: 'step.resource', max_steps: 2 } }

/** A log with three refunds in one task, the last of which violates the policy. */
function desk(policies: readonly PolicyInput[], more: JsonMap = {}, task_id = 'refunds'): SketchedLog {
  const log = new SketchedLog()
  log.govern(policies)
  log.register('ag_1')
  for (let count = 0; count < 3; count++) log.step('ag_1', task_id, { ...refund, ...more })
  return log
}

async function verified(log: SketchedLog, ...args: string[]) {
  const path = auditor.put('bundle.zip', bundleOf(log))
  expect((await verifyWithBoth(path, trust, auditor)).findings).toEqual([])
  return runSvc(['verify', path, '--trust', policy, '--rejudge', ...args])
}

/** The log with another evaluation of its last step. */
function forged(log: SketchedLog, evaluation: unknown): SketchedLog {
  const last = log.entries.pop()
  if (last !== undefined) log.entries.push({ ...last, values: { ...last.values, evaluation } })
  return log
}

describe('`svc verify --rejudge`', () => {
  it('reports that each verdict is as recorded', async () => {
    const { code, stdout, stderr } = await verified(desk(policiesOf([twoRefunds])))
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('bundle.zip: valid, all verdicts evaluated again\n')
    const line = 'verdicts   3 of 3 steps evaluated again (100%): each policy gives the verdict that was recorded\n'
    expect(stdout).toContain(`  ✓ ${line}`)
  })

  it('names a verdict that is not what the policies give, and exits with 1', async () => {
    const log = forged(desk(policiesOf([twoRefunds])), [{ policy_id: 1, version: 1, violated: false, code: null }])
    const { code, stdout } = await verified(log)
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('but 1 recorded verdict is NOT what the policies give\n'),
    ])
    expect(stdout).toContain(
      '  ✗ entry 3, task `refunds`, step 3, agent ag_1: policy `policy 1` (1) was recorded as not violated, version 1; evaluated again it is violated [TOO_MANY_STEPS], version 1\n',
    )
    expect(stdout).toContain('Ask the operator which version the platform ran at that time')
    const json = await verified(log, '--json')
    const { valid, rejudge } = JSON.parse(json.stdout) as BundleVerdict
    expect([json.code, valid, rejudge]).toMatchObject([1, true, { equal: false, steps: 3, mismatches: [{ step: 3 }] }])
  })

  it('is left out of a verdict without it, and of one on a bundle that is not valid', async () => {
    const path = auditor.put('bundle.zip', bundleOf(desk(policiesOf([twoRefunds]))))
    expect((await runSvc(['verify', path, '--trust', policy])).stdout).not.toContain('verdicts')
    const other = auditor.put('other.policy', `log ${formatVerifier(otherKey)}\n`)
    const { code, stdout } = await runSvc(['verify', path, '--trust', other, '--rejudge'])
    expect([code, stdout.includes('evaluated again (')]).toEqual([1, false])
    const broken = auditor.put(
      'broken.zip',
      bundleOf({ entries: desk(policiesOf([twoRefunds])).entries, sets: new Map() }),
    )
    const answer = await runSvc(['verify', broken, '--trust', policy, '--rejudge'])
    expect([answer.code, answer.stdout]).toEqual([
      1,
      expect.stringContaining('– verdicts   not evaluated again: the bundle is not valid'),
    ])
  })

  it('needs the command: the verifier in one file names it', () => {
    const file = fileURLToPath(new URL('../../proof/svc-verify.mjs', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, [file, 'x.zip', '--trust', policy, '--rejudge'])
    expect([status, String(stderr)]).toEqual([2, expect.stringContaining('--rejudge needs the policy engine')])
  })
})

/** An object inside objects. */
function nested(levels: number): JsonMap {
  let value: JsonMap = {}
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}

/** A rule inside compound rules. */
function compound(levels: number): { rule_type: string; params: JsonMap } {
  let rule: { rule_type: string; params: JsonMap } = twoRefunds
  for (let level = 0; level < levels; level++) rule = { rule_type: 'not', params: { condition: rule } }
  return rule
}

describe('a bundle of a hostile writer', () => {
  const text = `${'a'.repeat(200_000)}!`
  const regex = (pattern: string) => ({
    rule_type: 'argument_matches',
    params: { field: 'input', pattern, found: false },
  })
  it.each<[string, SketchedLog]>([
    [
      'patterns that take exponential time elsewhere',
      desk(policiesOf([regex('(a+)+$'), regex('(a|aa)*b'), regex('(.*)*x')]), { input: { text } }),
    ],
    ['a large pattern', desk(policiesOf([regex(`${'(a?){1,50}'.repeat(200)}b`)]), { input: { text } })],
    ['more policies than are read', desk(policiesOf(Array.from({ length: 10_001 }, () => twoRefunds)))],
    ['deep parameters', desk(policiesOf([{ ...twoRefunds, params: { ...twoRefunds.params, more: nested(1200) } }]))],
    ['deep compound rules', desk(policiesOf([compound(600)]))],
    [
      'deep inputs',
      desk(policiesOf([regex('x'), { rule_type: 'pii_in_request', params: {} }]), { input: nested(1200) }),
    ],
    ['long lists', desk(policiesOf([regex('x')]), { input: { all: Array.from({ length: 100_000 }, (_, at) => at) } })],
    ['names of prototypes', desk(policiesOf([twoRefunds]), { input: { constructor: 1, toString: 2 } }, '__proto__')],
  ])('with %s is evaluated without an error', async (_, log) => {
    const { code, stdout, stderr } = await verified(log)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/3 of 3 steps evaluated again|3 steps not evaluated again/)
  })

  it('prints its names without control characters', async () => {
    const named = policiesOf([{ ...twoRefunds, name: 'a\u001b[31m\u202e\nb' }])
    const log = forged(desk(named, {}, 'x\u001b]0;y\u0007\nbundle.zip: valid'), [])
    const { code, stdout } = await verified(log)
    expect(code).toBe(1)
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u)
    expect(stdout.split('\n').filter((line) => line.startsWith('bundle.zip: valid'))).toEqual([])
  })
})

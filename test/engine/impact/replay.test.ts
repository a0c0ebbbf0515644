// Replays of recorded tasks: test/cases/replay.yaml.
import { readFileSync } from 'node:fs'
import { readTraceLine } from '@svc/engine'
import { createReplay, neverApplied, type PolicyTally, policiesOfManifests, samePolicies } from '@svc/engine/parts'
import { actionDigest } from '@svc/proof'
import type { JsonMap, Manifest, Step } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { policyDefaults } from '../../support/engine/policy.js'

type Line = string | (JsonMap & { readonly approves?: Step })

interface ReplayCase {
  readonly name: string
  readonly new: readonly string[]
  readonly old?: readonly string[]
  readonly waivers?: Manifest['waivers']
  readonly agent?: JsonMap
  readonly max_running?: number
  readonly max_listed?: number
  readonly lines: readonly Line[]
  readonly expect: JsonMap
  readonly tallies?: Readonly<Record<string, readonly number[]>>
  readonly policies?: Readonly<Record<string, JsonMap>>
  readonly findings?: readonly JsonMap[]
}

interface Cases {
  readonly policies: Readonly<Record<string, Manifest['policies'][number]>>
  readonly cases: readonly ReplayCase[]
}

const { policies, cases } = parse(readFileSync(new URL('../../cases/replay.yaml', import.meta.url), 'utf8')) as Cases

function manifestOf(names: readonly string[], file: string, waivers: Manifest['waivers'] = []) {
  const chosen = names.map((name) => {
    const policy = policies[name]
    if (policy === undefined) throw new Error(`no policy \`${name}\``)
    return policy
  })
  const manifest = { name: file, version: '1', policies: chosen, waivers } as Manifest
  return { manifest, file, lines: chosen.map((_, index) => index + 1) }
}

/** The text of a line in the trace; a gate carries the digest of the step that it approves. */
function textOf(line: Line): string {
  if (typeof line === 'string') {
    const [task_id, step_type, ...rest] = line.split(' ')
    const verb = rest.find((word) => /^[A-Z]+$/.test(word))
    const step_name = rest.find((word) => word !== verb)
    return JSON.stringify({ task_id, step_type, verb, step_name })
  }
  const { approves, ...step } = line
  if (approves === undefined) return JSON.stringify(step)
  const input = { action_digest: actionDigest(approves) }
  const properties = { guard: { check_type: 'human_approval', result: 'passed' } }
  return JSON.stringify({ ...step, input, properties })
}

function replayOf({ new: set, old, waivers, agent, max_running, max_listed, lines }: ReplayCase) {
  const replay = createReplay({
    policies: policiesOfManifests([manifestOf(set, 'new.yaml', waivers)]),
    ...(old !== undefined && { against: policiesOfManifests([manifestOf(old, 'old.yaml')]) }),
    ...(agent !== undefined && { agent }),
    ...(max_running !== undefined && { max_running }),
    ...(max_listed !== undefined && { max_listed }),
  })
  for (const line of lines) replay.add(readTraceLine(textOf(line)), 'trace.jsonl')
  return replay.finish()
}

const countsOf = ({ applicable, passed, violated, blocked, asked, tasks_violated }: PolicyTally) => [
  applicable,
  passed,
  violated,
  blocked,
  asked,
  tasks_violated,
]

describe('replay', () => {
  it.each(cases)('$name', (one) => {
    const result = replayOf(one)
    expect(result.rejected).toEqual([])
    expect(result).toMatchObject(one.expect)
    const of = (name: string) => result.policies.find((policy) => policy.name === name)
    for (const [name, counts] of Object.entries(one.tallies ?? {}))
      expect([name, countsOf(of(name) as PolicyTally)]).toEqual([name, counts])
    for (const [name, part] of Object.entries(one.policies ?? {})) expect(of(name)).toMatchObject(part)
    if (one.findings !== undefined) expect(neverApplied(result)).toMatchObject(one.findings)
    if (one.findings !== undefined) expect(neverApplied(result)).toHaveLength(one.findings.length)
  })

  it('names the first violation of each policy, and why a step is blocked', () => {
    const one = cases.find(({ name }) => name.startsWith('interleaved')) as ReplayCase
    const { policies: rows, first_blocks } = replayOf(one)
    expect(rows[0]?.example).toEqual({ task_id: 'b', step: 2 })
    expect(first_blocks.listed[0]?.policies).toEqual([
      {
        name: 'Payments follow a lookup',
        side: 'new',
        severity: 'critical',
        effect: 'blocks',
        code: expect.any(String),
        reason: expect.any(String),
        remedy: expect.any(String),
        manifest: 'new.yaml',
        line: 1,
      },
    ])
  })

  it('takes policies without a file, whatever their ids', () => {
    const { manifest } = manifestOf(['no_pay', 'mail'], 'x')
    const inputs = manifest.policies.map((policy, index) => ({ ...policyDefaults, ...policy, id: 90 - index }))
    const replay = createReplay({ policies: samePolicies(inputs as never), against: samePolicies([]) })
    replay.add({ kind: 'step', step: { task_id: 't', step_type: 'step.resource', step_name: 'pay' } })
    const { flips, policies: rows, rejected } = replay.finish()
    expect([flips.total, rejected]).toEqual([1, []])
    expect(rows.map(({ name, violated }) => [name, violated])).toEqual([
      ['No payments', 1],
      ['Mails have a subject', 0],
    ])
  })

  it('names the file of a task, unless its id continues in another one', () => {
    const replay = createReplay({ policies: policiesOfManifests([manifestOf(['no_pay'], 'new.yaml')]) })
    const add = (file: string, line: string) => replay.add(readTraceLine(textOf(line)), file)
    add('1.jsonl', 't task.start')
    add('2.jsonl', 't task.end')
    add('2.jsonl', 't step.resource POST pay')
    add('2.jsonl', 'u step.resource POST pay')
    const { first_blocks, tasks } = replay.finish()
    expect(tasks).toBe(2)
    expect(first_blocks.listed.map(({ task_id, source }) => [task_id, source])).toEqual([
      ['t', null],
      ['u', '2.jsonl'],
    ])
  })
})

// The check of a public repository is read by the world: it shows numbers, and nothing that was recorded.
import type { ImpactReport, InForce } from '@svc/platform'
import { describe, expect, it } from 'vitest'
import { contentOfMerge } from '../../app/check/after-merge.js'
import { checkPullRequest } from '../../app/check/check-pull-request.js'
import type { CheckParts } from '../../app/check/parts.js'
import { type CheckWorld, checkWorld } from '../support/git/check-repository.js'

const manifest = (max: number) => `name: Refunds
version: "1.0.0"
policies:
  - name: Refunds stay small
    rule_type: field_in_range
    params: { field: input.amount, max: ${max}, target_step_names: [pay] }
    scope: step_execution
    severity: critical
`

const change: CheckWorld = { base: { 'a.yaml': manifest(500) }, head: { 'a.yaml': manifest(200) } }

/** Every text that only the platform knows has this word. */
const secret = 'zebra'
const cause = {
  severity: 'critical',
  effect: 'blocks',
  code: 'X',
  remedy: `ask ${secret}`,
  line: 4,
  side: 'new',
} as const

const impact: ImpactReport = {
  agents: [3, 0].map((policies_after, index) => ({
    agent_id: `ag_${secret}_${index}`,
    agent_key: `${secret}-key-${index}`,
    name: `Agent ${secret} ${index}`,
    risk_classification: 'high',
    manifest_paths: ['a.yaml'],
    policies_before: 3,
    policies_after,
    tasks: 10,
    steps: 50,
    flipped_tasks: 7,
    newly_blocked_tasks: 7,
    newly_asked_tasks: 0,
    no_longer_blocked_tasks: 0,
  })),
  pinned_agents: [
    { agent_id: `p_${secret}`, agent_key: secret, name: secret, manifest_path: 'a.yaml', pinned_sha: 'c'.repeat(40) },
  ],
  recorded_tasks: 20,
  sampled_tasks: 20,
  tasks: 20,
  steps: 99,
  left_out: [],
  flipped_tasks: 7,
  newly_blocked_tasks: 7,
  newly_asked_tasks: 0,
  no_longer_blocked_tasks: 0,
  first_flips: {
    total: 7,
    listed: Array.from({ length: 7 }, (_, index) => ({
      agent_id: `ag_${secret}_0`,
      agent_key: `${secret}-key-0`,
      change: 'newly_blocked' as const,
      blocked_step: 7,
      flip: {
        task_id: `task-${secret}-${index}`,
        source: `${secret}.jsonl`,
        step: 3,
        step_type: `${secret}.call`,
        verb: `${secret}`,
        step_name: `${secret}_step`,
        happened: true,
        before: 'allow' as const,
        after: 'block' as const,
        policies: [
          { ...cause, name: 'Refunds stay small', reason: `${secret} is out of range`, manifest: 'a.yaml' },
          { ...cause, name: `Policy ${secret}`, reason: secret, manifest: `other/${secret}.yaml` },
        ],
      },
    })),
  },
}

async function shown(world: CheckWorld, report: CheckParts['impactOf'] = async () => impact) {
  const { parts, runs } = checkWorld(world, report)
  await checkPullRequest(parts, 12)
  return { run: runs[0], page: JSON.stringify(runs) }
}

describe('the check of a pull request', () => {
  it('in a private repository names agents, tasks and steps', async () => {
    const { page } = await shown(change)
    for (const word of ['key-0', 'Agent', 'task-', '_step', 'is out of range'])
      expect(page).toMatch(new RegExp(`${secret}[^"]*${word}|${word}[^"]*${secret}`))
  })

  it.each([
    ['a public repository', { ...change, visibility: 'public' }],
    ['a repository whose settings say so', { ...change, tip: { '.github/svc.yml': 'details: false' } }],
    [
      'a public repository whose pull request allows details',
      { ...change, visibility: 'public', head: { ...change.head, '.github/svc.yml': 'details: true' } },
    ],
    [
      'a public repository whose settings are invalid',
      { ...change, visibility: 'public', tip: { '.github/svc.yml': 'details: true\nx: 1' } },
    ],
    [
      'a public repository, by a bot',
      { ...change, visibility: 'public', base: change.head, head: change.base, author: 'x[bot]' },
    ],
  ] as const satisfies readonly (readonly [string, CheckWorld])[])('in %s shows numbers only', async (_, world) => {
    const { run, page } = await shown(world)
    expect(page).not.toContain(secret)
    expect(run?.output?.title).toContain('7 of 20 recorded tasks would now be blocked')
    expect(run?.output?.summary).toContain('are left out, because')
    expect(run?.output?.summary).toContain('POST /api/v1/policies/dry-run')
  })

  it('in a public repository that allows details has them', async () => {
    const { page } = await shown({ ...change, visibility: 'public', tip: { '.github/svc.yml': 'details: true' } })
    expect(page).toContain(`task-${secret}-0`)
  })

  it.each([
    ['public', undefined, 0],
    ['private', undefined, 1],
    ['public', 'details: true', 1],
  ] as const)('of a fork of a %s repository with %j replays %i times', async (visibility, settings, times) => {
    let asked = 0
    const tip = settings === undefined ? {} : { '.github/svc.yml': settings }
    const { run, page } = await shown({ ...change, visibility, is_fork: true, tip }, async () => {
      asked += 1
      return impact
    })
    expect(asked).toBe(times)
    expect(page.includes(secret)).toBe(times > 0)
    expect(page.includes('7 of 20')).toBe(times > 0)
    if (times === 0) expect(run?.output?.summary).toContain('comes from a fork of a public repository')
  })
})

const report: InForce = {
  counts: { kept: 1, changed: 1, unchanged: 0 },
  listed: (['kept', 'changed'] as const).map((kind, id) => ({
    id,
    agent: { agent_key: secret, name: secret, risk_classification: 'high' },
    manifest_path: `${secret}.yaml`,
    manifest_sha: 'a'.repeat(40),
    kind,
    pinned: false,
    conditions:
      kind === 'kept'
        ? [{ kind: 'guard_tripped' as const, reason: 'x', message: secret, since: '2026-11-22T00:00:00Z' }]
        : [],
    old_sha: null,
    diff: null,
  })),
}

describe('the check of a merged commit', () => {
  it.each(['public', 'setting', null] as const)('without names (%s) shows numbers only', (hidden) => {
    const content = contentOfMerge({ report, hidden, branch: 'main' })
    expect(JSON.stringify(content).includes(secret)).toBe(hidden === null)
    expect(content.title).toBe('Held: 1 assignment has the new version and 1 waits for an approval')
    expect(content.conclusion).toBe('action_required')
  })
})

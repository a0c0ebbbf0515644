// The life of a check run: for which commits it is written, what it becomes on failures, and that it never stays in progress.
import { SourceError } from '@svc/platform'
import { describe, expect, it } from 'vitest'
import { checkHead, checkMergeGroup, checkPullRequest, unfinishedChecks } from '../../app/check/check-pull-request.js'
import type { CheckParts } from '../../app/check/parts.js'
import { type CheckWorld, checkWorld, noImpact, shas } from '../support/git/check-repository.js'

const manifest = (max: number, rest = '') => `name: Refunds
version: "1.0.0"
policies:
  - name: Refunds stay small
    rule_type: field_in_range
    params: { field: input.amount, max: ${max}, target_step_names: [pay] }
    scope: step_execution
    severity: critical
${rest}`

const test = (amount: number) => `tests:
  - name: a refund of ${amount} is blocked
    step: { step_type: step.exec, step_name: pay, input: { amount: ${amount} } }
    expect: { action: block }
`

const edit = { base: { 'a.yaml': manifest(500) }, head: { 'a.yaml': manifest(200) } }

async function checked(world: CheckWorld, impact: CheckParts['impactOf'] = async () => noImpact) {
  const { parts, runs } = checkWorld(world, impact)
  await checkPullRequest(parts, 12)
  return runs.map(({ status, conclusion, output }) => `${status} ${conclusion}: ${output?.title}`)
}

describe('the conclusion', () => {
  it.each([
    ['a stricter manifest', edit, 'success: No agent has this manifest: 1 policy becomes stricter'],
    [
      'a looser manifest',
      { base: edit.head, head: edit.base },
      'success: No agent has this manifest: 1 policy becomes looser',
    ],
    ['another file', { base: { b: '1' }, head: { b: '2' } }, 'neutral: No manifest changed'],
    [
      'a YAML file without policies',
      { base: { 'b.yaml': 'a: 1' }, head: { 'b.yaml': 'a: 2' } },
      'neutral: No manifest changed',
    ],
    [
      'a failed test',
      { base: edit.base, head: { 'a.yaml': manifest(500, test(400)) } },
      'failure: Failed: 1 of 1 manifest test fails',
    ],
    [
      'a manifest that is not one any more',
      { base: edit.base, head: { 'a.yaml': 'a: 1' } },
      'failure: Invalid: 4 errors in a.yaml',
    ],
    [
      'a branch that no agent follows',
      { ...edit, followed: false },
      'neutral: Not checked: no agent follows this branch',
    ],
    [
      'tests of a file beside it',
      { base: { ...edit.base, 'a.test.yaml': test(600) }, head: { ...edit.base, 'a.test.yaml': test(400) } },
      'failure: Failed: 1 of 1 manifest test fails',
    ],
    [
      'tests without a manifest',
      { base: { ...edit.base, 'a.test.yaml': test(600) }, head: { 'a.test.yaml': test(600) } },
      'failure: Invalid: 1 error in a.test.yaml',
    ],
    [
      'settings that are invalid',
      { base: edit.base, head: { ...edit.base, '.github/svc.yml': 'tests: no' } },
      'failure: Invalid: 1 error in .github/svc.yml',
    ],
    [
      'settings of the base that need tests',
      { ...edit, tip: { '.github/svc.yml': 'tests: required' } },
      'failure: Invalid: 1 error in a.yaml',
    ],
    [
      'settings of the head that need no tests',
      { base: { ...edit.base, '.github/svc.yml': 'tests: required' }, head: edit.head },
      'failure: Invalid: 1 error in a.yaml',
    ],
    [
      'a bot that makes it stricter',
      { ...edit, author: 'x[bot]' },
      'success: No agent has this manifest: 1 policy becomes stricter',
    ],
    [
      'a bot that makes it looser',
      { base: edit.head, head: edit.base, author: 'x[bot]' },
      'action_required: Approval required: 1 change takes protection away; no agent has these manifests',
    ],
    [
      'a bot that names other owners',
      { base: { CODEOWNERS: '* @mia' }, head: { CODEOWNERS: '* @x' }, author: 'x[bot]', reviews: ['x APPROVED'] },
      'action_required: Approval required: 1 change takes protection away',
    ],
    [
      'a bot that loosens as an owner of its own',
      {
        base: { ...edit.head, CODEOWNERS: '* @mia' },
        head: { ...edit.base, CODEOWNERS: '* @x' },
        author: 'x[bot]',
        reviews: ['x APPROVED'],
      },
      'action_required: Approval required: 2 changes take protection away; no agent has these manifests',
    ],
    [
      'an agent account of the branch now',
      { base: edit.head, head: edit.base, tip: { '.github/svc.yml': 'agent_accounts: [mia]' } },
      'action_required: Approval required: 1 change takes protection away; no agent has these manifests',
    ],
    [
      'a looser manifest and a test that goes with it, by an owner',
      {
        base: { 'a.yaml': manifest(200, test(400)), CODEOWNERS: '* @mia' },
        head: { 'a.yaml': manifest(500, test(600)), CODEOWNERS: '* @mia' },
      },
      'success: No agent has this manifest: 1 policy becomes looser',
    ],
    [
      'a looser manifest and a test that goes with it, of others',
      {
        base: { 'a.yaml': manifest(200, test(400)), CODEOWNERS: '* @tom' },
        head: { 'a.yaml': manifest(500, test(600)), CODEOWNERS: '* @tom' },
      },
      'action_required: Approval required: 1 change takes protection away; no agent has these manifests',
    ],
  ] as const satisfies readonly (readonly [string, CheckWorld, string])[])('of %s', async (_, world, result) => {
    expect(await checked(world)).toEqual([`completed ${result}`])
  })

  it.each([
    ['mia', [], ' No review was needed: `mia`, the author, owns the changed files.'],
    ['zoe', ['mia APPROVED'], ' `mia` approved it.'],
    ['x[bot]', ['mia APPROVED'], ' `mia` approved it.'],
  ])('names as an approver only who reviewed: author %s, reviews %j', async (author, reviews, sentence) => {
    const { parts, runs } = checkWorld(
      {
        base: { 'a.yaml': manifest(200, test(400)), CODEOWNERS: '* @mia' },
        head: { 'a.yaml': manifest(500, test(600)), CODEOWNERS: '* @mia' },
        author,
        reviews,
      },
      async () => noImpact,
    )
    await checkPullRequest(parts, 12)
    const summary = runs[0]?.output?.summary ?? ''
    expect(summary).toContain(sentence)
    expect(summary.match(/approved it/g) ?? []).toHaveLength(reviews.length)
  })
})

describe('the summary of errors', () => {
  const needed = { ...edit, tip: { '.github/svc.yml': 'tests: required' } }
  const lone = { base: edit.base, head: { ...edit.head, 'zz.test.yaml': test(600) } }
  const [inForce, held, kept] = ['in force all the same', 'until an operator approves', 'would keep it, and no other']
  it.each([
    ['a manifest without the required tests', needed, inForce],
    ['tests without a manifest', lone, inForce],
    ['settings with an error', { base: edit.base, head: { ...edit.head, '.github/svc.yml': 'tests: no' } }, inForce],
    ['an empty list of tests', { ...edit, head: { 'a.yaml': `${manifest(200)}tests: []\n` } }, held],
    ['an error in tests', { ...edit, head: { ...edit.head, 'a.test.yaml': 'tests: 1' } }, held],
    ['a failed test', { ...edit, head: { 'a.yaml': manifest(500, test(400)) } }, held],
    ['an invalid manifest', { ...edit, head: { 'a.yaml': 'policies: 1' } }, kept],
    ['the worst of two', { ...lone, head: { ...lone.head, 'a.yaml': 'policies: 1' } }, kept],
  ] as const satisfies readonly (readonly [string, CheckWorld, string])[])(
    'says what the platform would do with %s',
    async (_, world, sentence) => {
      const { parts, runs } = checkWorld(world, async () => noImpact)
      await checkPullRequest(parts, 12)
      const summary = runs[0]?.output?.summary ?? ''
      expect([inForce, held, kept].filter((one) => summary.includes(one))).toEqual([sentence])
    },
  )

  it.each([
    ['off', true],
    ['if-present', false],
  ])('with `tests: %s` says that the platform runs them: %s', async (tests, says) => {
    const agent = { agent_id: 'ag_1', agent_key: 'a', name: 'A', risk_classification: 'high' } as const
    const agents = [
      { ...noImpact, ...agent, manifest_paths: ['a.yaml'], policies_before: 1, policies_after: 1, tasks: 1 },
    ]
    const { parts, runs } = checkWorld(
      { ...edit, tip: { ...edit.base, '.github/svc.yml': `tests: ${tests}` } },
      async () => ({ ...noImpact, agents }),
    )
    await checkPullRequest(parts, 12)
    const summary = runs[0]?.output?.summary ?? ''
    expect([summary.includes('in force for A within minutes'), summary.includes('no test ran here')]).toEqual([
      true,
      says,
    ])
  })

  it('names the files that have them, and none whose tests fail', async () => {
    const head = { 'bad.yaml': 'policies: 1', 'tested.yaml': manifest(500, test(400)) }
    const { parts, runs } = checkWorld({ base: { 'bad.yaml': manifest(1) }, head }, async () => noImpact)
    await checkPullRequest(parts, 12)
    expect(runs[0]?.output?.summary).toContain('**`bad.yaml` cannot be used: it has errors.**')
  })
})

const findings = (count: number) =>
  `name: Refunds\nversion: "1.0.0"\npolicies:\n${Array.from({ length: count }, (_, index) => `  - { name: p${index}, rule_type: nothing, scope: step_execution, severity: low }\n`).join('')}`

describe('a check run', () => {
  it('has every annotation once, also when it is written again', async () => {
    const { parts, runs } = checkWorld({ base: {}, head: { 'a.yaml': findings(120) } }, async () => noImpact)
    await checkPullRequest(parts, 12)
    await checkHead(parts, shas.head)
    expect(runs.map(({ output }) => output?.annotations?.length)).toEqual([120])
    expect(runs[0]?.status).toBe('completed')
  })

  it('with other annotations than before is replaced', async () => {
    const { parts, runs } = checkWorld({ base: {}, head: { 'a.yaml': findings(60) } }, async () => noImpact)
    const old = {
      path: 'a.yaml',
      start_line: 1,
      end_line: 1,
      annotation_level: 'notice',
      title: 'old',
      message: 'old',
    } as const
    await parts.checks.create(shas.head, 'svc / policies', {
      status: 'completed',
      external_id: 'x',
      output: { title: 'old', summary: 'old', annotations: [old] },
    })
    await checkHead(parts, shas.head)
    expect(runs.map(({ status, conclusion, output }) => [status, conclusion, output?.annotations?.length])).toEqual([
      ['completed', 'neutral', 1],
      ['completed', 'failure', 60],
    ])
  })

  it('ends with a sentence and is tried again when GitHub is away', async () => {
    const { parts, runs } = checkWorld(edit, async () => noImpact)
    const reader = { ...parts.reader, list: async () => Promise.reject(new SourceError('fetch_failed', 'x', 60)) }
    await expect(checkPullRequest({ ...parts, reader }, 12)).rejects.toMatchObject({ code: 'fetch_failed' })
    expect(runs.map(({ conclusion, output }) => `${conclusion}: ${output?.title}`)).toEqual([
      'failure: Not checked: GitHub did not answer, or asks to wait',
    ])
    await checkPullRequest(parts, 12)
    expect(runs.map(({ conclusion }) => conclusion)).toEqual(['success'])
  })

  it('ends with a sentence and is not tried again without access', async () => {
    const { parts, runs } = checkWorld(edit, async () => noImpact)
    const reader = { ...parts.reader, list: async () => Promise.reject(new SourceError('access_revoked', 'x')) }
    await checkPullRequest({ ...parts, reader }, 12)
    expect(runs.map(({ status, conclusion }) => `${status} ${conclusion}`)).toEqual(['completed failure'])
  })

  it('ends when the replay fails, and shows none of its words', async () => {
    const { parts, runs } = checkWorld(edit, async () => Promise.reject(new Error('secret')))
    await expect(checkPullRequest(parts, 12)).rejects.toThrow('secret')
    expect(runs.map(({ status, conclusion }) => `${status} ${conclusion}`)).toEqual(['completed failure'])
    expect(JSON.stringify(runs)).not.toContain('secret')
  })

  it.each([
    ['the lines', 'annotations', 'failure: Invalid: 120 errors in a.yaml'],
    ['the result', 'Invalid', 'failure: Not checked: GitHub rejects what the App asks for'],
  ])('is completed when GitHub rejects %s, and the operator gets the reason', async (_, rejected, result) => {
    const { parts, runs } = checkWorld({ base: {}, head: { 'a.yaml': findings(120) } }, async () => noImpact)
    const warned: string[] = []
    const update: CheckParts['checks']['update'] = async (id, change) => {
      const { annotations, ...output } = change.output ?? {}
      const sent = JSON.stringify(annotations?.length ? { annotations, output } : output)
      if (sent.includes(rejected)) throw new SourceError('rejected', 'status 422')
      await parts.checks.update(id, change)
    }
    const warn = (problem: string) => void warned.push(problem)
    await checkPullRequest({ ...parts, warn, checks: { ...parts.checks, update } }, 12)
    expect(runs.map(({ status, conclusion, output }) => `${status} ${conclusion}: ${output?.title}`)).toEqual([
      `completed ${result}`,
    ])
    expect(new Set(warned)).toEqual(new Set(['status 422']))
  })

  it('is wanted for an open pull request without a completed one', async () => {
    const { parts } = checkWorld(edit, async () => noImpact)
    const pull = { number: 12, head_sha: shas.head }
    expect(await unfinishedChecks(parts)).toEqual([pull])
    await parts.checks.create(shas.head, 'svc / policies', { status: 'in_progress' })
    expect(await unfinishedChecks(parts)).toEqual([pull])
    await checkPullRequest(parts, 12)
    expect(await unfinishedChecks(parts)).toEqual([])
  })

  it('of an earlier head does not stay in progress', async () => {
    const { parts, runs } = checkWorld(edit, async () => noImpact)
    await parts.checks.create('d'.repeat(40), 'svc / policies', { status: 'in_progress' })
    await checkPullRequest(parts, 12, 'd'.repeat(40))
    expect(runs.map(({ status, conclusion }) => `${status} ${conclusion}`)).toEqual([
      'completed cancelled',
      'completed success',
    ])
  })

  it('of a commit in two pull requests has the worse result', async () => {
    const { parts, runs, pull } = checkWorld({ base: {}, head: { 'a.yaml': findings(1) } }, async () => noImpact)
    const reader: CheckParts['reader'] = {
      ...parts.reader,
      openPullRequests: async () => [12, 13],
      pullRequest: async (number) => ({ ...pull, number, base_ref: number === 12 ? 'main' : 'other' }),
    }
    const followed: CheckParts['followed'] = async (branch) => (branch === 'main' ? parts.followed(branch) : null)
    await checkPullRequest({ ...parts, reader, followed }, 13)
    expect(runs.map(({ conclusion }) => conclusion)).toEqual(['failure'])
  })

  it('does not need the list of pull requests at a commit, which can be late', async () => {
    const { parts, runs } = checkWorld(edit, async () => noImpact)
    await checkPullRequest({ ...parts, reader: { ...parts.reader, openPullRequests: async () => [] } }, 12)
    expect(runs.map(({ conclusion }) => conclusion)).toEqual(['success'])
  })

  it('of a merge group compares with its base, and asks for no review', async () => {
    const { parts, runs } = checkWorld({ base: edit.head, head: edit.base, author: 'x[bot]' }, async () => noImpact)
    await checkMergeGroup(parts, { base_sha: shas.base, base_ref: 'main', head_sha: shas.head })
    expect(runs.map(({ conclusion, output }) => `${conclusion}: ${output?.title}`)).toEqual([
      'success: No agent has this manifest: 1 policy becomes looser',
    ])
  })
})

// Ways around the approval of a loosening, as an agent would try them.
import { describe, expect, it } from 'vitest'
import { checkHead, checkPullRequest } from '../../app/check/check-pull-request.js'
import type { CheckParts } from '../../app/check/parts.js'
import { type CheckWorld, checkWorld, noImpact, shas } from '../support/git/check-repository.js'

const manifest = (max: number) => `name: Refunds
version: "1.0.0"
policies:
  - name: Refunds stay small
    rule_type: field_in_range
    params: { field: input.amount, max: ${max}, target_step_names: [pay] }
    scope: step_execution
    severity: critical
`

const [tight, loose] = [manifest(200), manifest(500)]
const owned = { 'a.yaml': tight, CODEOWNERS: '* @mia' }
const bot = { base: owned, head: { ...owned, 'a.yaml': loose }, author: 'x[bot]' }
const required = (what: string) => `action_required: Approval required: ${what}; no agent has these manifests`
const one = required('1 change takes protection away')
const looser = 'success: No agent has this manifest: 1 policy becomes looser'
const svc = '.github/svc.yml'

const second = `  - name: Payments stay small
    rule_type: field_in_range
    params: { field: input.total, max: 9, target_step_names: [pay] }
    scope: step_execution
    severity: critical
`

/** Ways around the approval of a loosening. */
const loosening: readonly (readonly [string, CheckWorld, string])[] = [
  ['a bot with the approval of an owner', { ...bot, reviews: ['mia APPROVED'] }, looser],
  ['an owner who may not push', { ...bot, reviews: ['mia APPROVED'], strangers: ['mia'] }, one],
  ['an approval before the base branch was changed', { ...bot, reviews: ['mia APPROVED'], base_changed_at: 1 }, one],
  [
    'an approval after the base branch was changed',
    { ...bot, reviews: ['mia APPROVED', 'mia APPROVED'], base_changed_at: 1 },
    looser,
  ],
  ['a commit of a bot in the pull request of a person', { ...bot, author: 'tom', commits: ['tom', 'x[bot]'] }, one],
  [
    'an agent account in another spelling',
    { ...bot, author: 'Shop-Coder', tip: { ...owned, [svc]: 'agent_accounts: ["@SHOP-coder"]' } },
    one,
  ],
  ['an agent account that is a text', { ...bot, author: 'tom', tip: { ...owned, [svc]: 'agent_accounts: shop' } }, one],
  [
    'an agent account that is a number',
    { ...bot, author: 'tom', tip: { ...owned, [svc]: 'agent_accounts: [12]' } },
    one,
  ],
  [
    'an agent account with a space',
    { ...bot, author: 'tom', tip: { ...owned, [svc]: 'agent_accounts: ["shop "]' } },
    one,
  ],
  ['agent accounts that are null', { ...bot, author: 'tom', tip: { ...owned, [svc]: 'agent_accounts:' } }, one],
  [
    'agent accounts twice',
    { ...bot, author: 'shop', tip: { ...owned, [svc]: 'agent_accounts: [shop]\nagent_accounts: []' } },
    one,
  ],
  [
    'settings with another name',
    { ...bot, author: 'tom', tip: { ...owned, '.github/svc.yaml': 'agent_accounts: [tom]' } },
    one,
  ],
  [
    'settings that are a symbolic link',
    { ...bot, author: 'tom', tip: { ...owned, [svc]: 'x' }, modes: { [svc]: '120000' } },
    one,
  ],
  [
    'settings that are a bomb of aliases',
    {
      ...bot,
      author: 'tom',
      tip: {
        ...owned,
        [svc]: `a: &a [x]\nb: &b [${'*a, '.repeat(50)}]\nc: &c [${'*b, '.repeat(50)}]\nd: [${'*c, '.repeat(50)}]`,
      },
    },
    one,
  ],
  ['owners that are a symbolic link', { ...bot, reviews: ['mia APPROVED'], modes: { CODEOWNERS: '120000' } }, one],
  [
    'owners of a file that GitHub does not use',
    { ...bot, tip: { ...owned, '.github/CODEOWNERS': '* @tom' }, reviews: ['mia APPROVED'] },
    one,
  ],
  [
    'owners of the root before those of docs',
    { ...bot, tip: { ...owned, 'docs/CODEOWNERS': '* @tom' }, reviews: ['tom APPROVED'] },
    one,
  ],
  [
    'owners of more than is read',
    {
      ...bot,
      tip: { 'a.yaml': tight, CODEOWNERS: `* @mia\n${'#'.repeat(3 * 1024 * 1024)}` },
      reviews: ['mia APPROVED'],
    },
    one,
  ],
  [
    'a manifest that moves to the path of another owner',
    {
      ...bot,
      base: { ...owned, CODEOWNERS: '* @mia\n/x/ @tom' },
      head: { 'x/a.yaml': loose, CODEOWNERS: '* @mia\n/x/ @tom' },
      reviews: ['tom APPROVED'],
    },
    required('2 changes take protection away'),
  ],
  ['a manifest that moves only', { ...bot, head: { 'A.yaml': tight, CODEOWNERS: '* @mia' } }, one],
  [
    'a policy that moves to another file',
    {
      ...bot,
      base: { ...owned, 'a.yaml': `${tight}${second}` },
      head: { ...owned, 'b.yaml': `name: Other\nversion: "1.0.0"\npolicies:\n${second}` },
    },
    one,
  ],
  [
    'a manifest at a path that folders leave out',
    {
      ...bot,
      base: { '.svc/a.yaml': tight, CODEOWNERS: '* @mia' },
      head: { '.svc/a.yaml': loose, CODEOWNERS: '* @mia' },
      assigned: ['.svc/a.yaml'],
    },
    one,
  ],
  [
    'a manifest with another ending',
    {
      ...bot,
      base: { 'a.policy': tight, CODEOWNERS: '* @mia' },
      head: { 'a.policy': loose, CODEOWNERS: '* @mia' },
      assigned: ['a.policy'],
    },
    one,
  ],
  [
    'a manifest that comes back at an assigned path',
    { ...bot, base: { CODEOWNERS: '* @mia' }, assigned: ['a.yaml'] },
    one,
  ],
  [
    'a manifest of which the base has an invalid version',
    { ...bot, base: { ...owned, 'a.yaml': `${tight}x: 1\n` } },
    one,
  ],
  [
    'a waiver for one agent',
    {
      ...bot,
      head: {
        ...owned,
        'a.yaml': `${tight}waivers:\n  - { policy: Refunds stay small, agent_key: desk, expires: "2026-12-31", reason: x, approved_by: x }\n`,
      },
    },
    one,
  ],
  [
    'a policy that only observes',
    {
      ...bot,
      head: { ...owned, 'a.yaml': tight.replace('severity: critical', 'severity: critical\n    mode: observe') },
    },
    one,
  ],
  ['a policy of lower severity', { ...bot, head: { ...owned, 'a.yaml': tight.replace('critical', 'low') } }, one],
  ['a policy of other steps', { ...bot, head: { ...owned, 'a.yaml': tight.replace('[pay]', '[paid]') } }, one],
]

describe('an approval is not replaced by', () => {
  it.each(loosening)('%s', async (_, world, result) => {
    const { parts, runs } = checkWorld(world, async () => noImpact)
    await checkPullRequest(parts, 12)
    const shown = runs.map(({ status, conclusion, output }) => `${status} ${conclusion}: ${output?.title}`)
    expect(shown).toEqual([`completed ${result}`])
  })
})

describe('a check run', () => {
  it('keeps its result when the pull request is closed and it is asked for again, or is retargeted', async () => {
    const { parts, runs, pull } = checkWorld(bot, async () => noImpact)
    await checkPullRequest(parts, 12)
    const closed = async () => ({ ...pull, is_open: false })
    await checkHead({ ...parts, reader: { ...parts.reader, pullRequest: closed } }, shas.head)
    expect(runs.map(({ conclusion }) => conclusion)).toEqual(['action_required'])
    const named: string[] = []
    const checks: CheckParts['checks'] = {
      ...parts.checks,
      find: async (_head, name) => {
        named.push(name)
        return null
      },
    }
    await checkHead({ ...parts, checks, followed: async () => null }, shas.head)
    expect(named).toEqual(['svc / other branch'])
    expect(runs.map(({ conclusion }) => conclusion)).toEqual(['action_required', 'neutral'])
  })
})

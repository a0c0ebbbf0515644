// Settings, owners, and who must approve what.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { PullRequestCommit, Review } from '../../app/check/parts.js'
import { readCodeowners } from '../../app/check/rules/codeowners.js'
import { requirementOf } from '../../app/check/rules/review.js'
import { defaultSettings, readSettings } from '../../app/check/rules/settings.js'
import { account, shas } from '../support/git/check-repository.js'

interface Cases {
  readonly settings: readonly {
    readonly name: string
    readonly given: string | null
    readonly settings: Record<string, unknown>
    readonly finding?: string
  }[]
  readonly owners: readonly {
    readonly name: string
    readonly given: string | null
    readonly path: string
    readonly users: readonly string[]
    readonly unresolved?: readonly string[]
  }[]
  readonly reviews: readonly {
    readonly name: string
    readonly author: string | null
    readonly commits?: readonly string[]
    readonly is_complete?: boolean
    readonly agents?: readonly string[]
    readonly reviews?: readonly string[]
    readonly loose: readonly string[]
    readonly broken?: readonly string[]
    readonly want: string
  }[]
}

const cases = parse(readFileSync(new URL('../cases/github-check/rules.yaml', import.meta.url), 'utf8')) as Cases

describe('settings', () => {
  it.each(cases.settings)('of $name', ({ given, settings, finding }) => {
    const reading = readSettings(given)
    expect(reading.settings).toEqual({ ...defaultSettings, ...settings })
    const found = reading.findings.map(({ id, line, column }) => `${id} ${line}:${column}`)
    expect(found).toEqual(finding === undefined ? [] : [finding])
  })
})

describe('owners', () => {
  it.each(cases.owners)('of $name', ({ given, path, users, unresolved = [] }) => {
    expect(readCodeowners(given).ownersOf(path)).toEqual({ users, unresolved })
  })
})

const codeowners = readCodeowners('/policies/ @mia @tom\n/gdpr/ @lena\n/teams/ @acme/x')

describe('an approval', () => {
  it.each(cases.reviews)('when $name', (one) => {
    const { author, commits = author === null ? [] : [author], is_complete = true, agents = [], reviews = [] } = one
    const loosenings = one.loose.map((path) => ({ path, what: 'it is looser', is_certain: true }))
    const requirement = requirementOf(loosenings, new Set(one.broken), {
      pull: { author: author === null ? null : account(author), head_sha: shas.head },
      commits: {
        listed: commits.map(
          (login): PullRequestCommit => ({ sha: shas.head, author: account(login), committer: null }),
        ),
        is_complete,
      },
      reviews: reviews.map((text): Review => {
        const [login = '', state = '', old] = text.split(' ')
        return { user: account(login), state, commit_id: old === undefined ? shas.head : shas.base, submitted_at: 1 }
      }),
      agent_accounts: agents,
      settings_known: true,
      codeowners,
    })
    expect([requirement.kind, ...(requirement.kind === 'approved' ? requirement.by : [])].join(' ')).toBe(one.want)
  })
})

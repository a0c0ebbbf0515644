// The approval of a change that loosens policies: required or not, given or not.

import type { Account, GithubReader, PullRequest, PullRequestCommit, Review } from '../parts.js'
import type { Codeowners, Owners } from './codeowners.js'
import type { Loosening } from './loosening.js'

export interface Authorship {
  readonly pull: Pick<PullRequest, 'author' | 'head_sha'>
  readonly commits: { readonly listed: readonly PullRequestCommit[]; readonly is_complete: boolean }
  /** The oldest first. */
  readonly reviews: readonly Review[]
  /** Logins that the settings of the base name. */
  readonly agent_accounts: readonly string[]
  readonly codeowners: Codeowners
  /** False where the settings of the base have errors. */
  readonly settings_known: boolean
}

/** Facts that are asked only if an approval depends on them. */
interface Vouching {
  /** Logins in lower case of accounts that may not push. */
  readonly strangers: ReadonlySet<string>
  /** ms since 1970: an earlier review is of another change. */
  readonly base_changed_at: number
}

const unasked: Vouching = { strangers: new Set(), base_changed_at: 0 }

/** The requirement by those approvals alone that count. Rejects with SourceError. */
export async function vouchedRequirement(
  { canPush, baseChangedAt }: Pick<GithubReader, 'canPush' | 'baseChangedAt'>,
  number: number,
  requirementBy: (vouching: Vouching) => Requirement,
): Promise<Requirement> {
  if (requirementBy(unasked).kind !== 'approved') return requirementBy(unasked)
  const base_changed_at = await baseChangedAt(number)
  const asked = new Set<string>()
  const strangers = new Set<string>()
  for (;;) {
    const found = requirementBy({ strangers, base_changed_at })
    const unknown = found.kind === 'approved' ? found.by.filter((login) => !asked.has(login)) : []
    if (unknown.length === 0) return found
    for (const login of unknown) {
      asked.add(login)
      if (!(await canPush(login))) strangers.add(login)
    }
  }
}

export interface MissingApproval extends Owners {
  readonly path: string
}

export type Requirement =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'approved'
      readonly because: string
      readonly by: readonly string[]
      /** Those of `by` who reviewed the pull request: the author vouches for it without a review. */
      readonly reviewers: readonly string[]
    }
  | { readonly kind: 'required'; readonly because: string; readonly missing: readonly MissingApproval[] }

/** `broken`: paths whose manifest is looser, and fails tests of the base that the change removes or rewrites. */
export function requirementOf(
  loosenings: readonly Loosening[],
  broken: ReadonlySet<string>,
  facts: Authorship,
  vouching = unasked,
): Requirement {
  const agent = agentReason(facts)
  const guarded =
    agent === null ? loosenings.filter(({ path, is_certain }) => is_certain && broken.has(path)) : loosenings
  const paths = [...new Set(guarded.map(({ path }) => path))]
  if (paths.length === 0) return { kind: 'none' }
  const because = agent ?? 'tests of the base fail on a looser manifest, and the pull request removes or rewrites them'
  const approvers = approversOf(facts, agent === null, vouching)
  const states = paths.map((path) => {
    const owners = facts.codeowners.ownersOf(path)
    return { path, ...owners, by: owners.users.filter((login) => approvers.has(login)) }
  })
  const missing = states.filter(({ by, users }) => by.length === 0 && (agent !== null || users.length > 0))
  if (missing.length > 0) return { kind: 'required', because, missing: missing.map(({ by: _, ...one }) => one) }
  const by = [...new Set(states.flatMap((state) => state.by))]
  const author = facts.pull.author?.login.toLowerCase()
  const reviewers = by.filter((login) => login.toLowerCase() !== author)
  return by.length === 0 ? { kind: 'none' } : { kind: 'approved', because, by, reviewers }
}

/** Why the change counts as written by an agent; null for one that people wrote. */
function agentReason({ pull, commits, agent_accounts, settings_known }: Authorship): string | null {
  const isAgent = agentTest(agent_accounts)
  if (!settings_known)
    return 'the settings of the base, `.github/svc.yml`, cannot be used, so that the accounts of agents are not known'
  if (pull.author === null) return 'the account that opened the pull request does not exist any more'
  if (isAgent(pull.author))
    return `\`${pull.author.login}\`, the author of the pull request, is the account of an agent`
  const found = commits.listed
    .flatMap(({ author, committer }) => [author, committer])
    .find((one) => one !== null && isAgent(one))
  if (found) return `\`${found.login}\`, the author of a commit, is the account of an agent`
  return commits.is_complete
    ? null
    : 'the pull request has more commits than GitHub lists, so that their authors are not known'
}

function agentTest(agent_accounts: readonly string[]) {
  const listed = new Set(agent_accounts.map((login) => login.trim().replace(/^@/, '').toLowerCase()))
  return ({ login, type }: Account) => type === 'Bot' || /\[bot\]$/i.test(login) || listed.has(login.toLowerCase())
}

/** Logins in lower case of the people whose last review approves this head; an author who is a person vouches for a change of their own. */
function approversOf(
  { pull, reviews, agent_accounts }: Authorship,
  author_counts: boolean,
  { strangers, base_changed_at }: Vouching,
): ReadonlySet<string> {
  const isAgent = agentTest(agent_accounts)
  const author = pull.author?.login.toLowerCase()
  const last = new Map<string, Review>()
  // A comment changes no earlier approval.
  for (const review of reviews.filter(({ state }) => /^(approved|changes_requested|dismissed)$/i.test(state))) {
    const login = review.user?.login.toLowerCase()
    if (login !== undefined && review.user?.type === 'User' && !isAgent(review.user)) last.set(login, review)
  }
  const approving = [...last].filter(
    ([login, { state, commit_id, submitted_at }]) =>
      /^approved$/i.test(state) &&
      commit_id === pull.head_sha &&
      login !== author &&
      // Times of GitHub are whole seconds.
      (base_changed_at === 0 || submitted_at > base_changed_at),
  )
  const found = [...approving.map(([login]) => login), ...(author_counts && author !== undefined ? [author] : [])]
  return new Set(found.filter((login) => !strangers.has(login)))
}

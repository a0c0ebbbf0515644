// What GitHub returns for each thing, in the API and in webhooks: the members that a client may need.
import type { ChangedFile, Commit, Person } from './bare.js'
import {
  type Account,
  type Annotation,
  type App,
  type CheckRun,
  type CheckSuite,
  fullName,
  type Installation,
  isoTime,
  type Json,
  type Pull,
  type Repository,
  type Review,
  type World,
} from './world.js'

const node = (kind: string, id: number) => Buffer.from(`${kind}:${id}`).toString('base64')

export function accountShape({ url }: World, { id, login, type }: Account): Json {
  const html_url = type === 'Bot' ? `${url}/apps/${login.replace('[bot]', '')}` : `${url}/${login}`
  return { login, id, node_id: node(type, id), html_url, url: `${url}/users/${login}`, type, site_admin: false }
}

export function appShape(world: World, app: App): Json {
  const { id, client_id, slug, name, owner, permissions, events } = app
  const html_url = `${world.url}/apps/${slug}`
  return {
    id,
    client_id,
    slug,
    node_id: node('App', id),
    owner: accountShape(world, owner),
    name,
    html_url,
    permissions,
    events,
  }
}

export function repositoryShape(world: World, repository: Repository): Json {
  const { id, owner, name, visibility, default_branch, fork_of, created_at } = repository
  const full_name = fullName(repository)
  return {
    id,
    node_id: node('Repository', id),
    name,
    full_name,
    private: visibility !== 'public',
    owner: accountShape(world, owner),
    html_url: `${world.url}/${full_name}`,
    description: null,
    fork: fork_of !== null,
    url: `${world.url}/repos/${full_name}`,
    clone_url: `${world.url}/${full_name}.git`,
    created_at,
    updated_at: created_at,
    pushed_at: created_at,
    archived: false,
    disabled: false,
    default_branch,
    visibility,
  }
}

export function shortRepository({ id, name, owner, visibility }: Repository): Json {
  const full_name = `${owner.login}/${name}`
  return { id, node_id: node('Repository', id), name, full_name, private: visibility !== 'public' }
}

export function installationShape(world: World, installation: Installation): Json {
  const { id, app, account, repository_selection, permissions, created_at, suspended_at } = installation
  return {
    id,
    client_id: app.client_id,
    account: accountShape(world, account),
    repository_selection,
    access_tokens_url: `${world.url}/app/installations/${id}/access_tokens`,
    repositories_url: `${world.url}/installation/repositories`,
    html_url: `${world.url}/settings/installations/${id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions,
    events: app.events,
    created_at,
    updated_at: created_at,
    single_file_name: null,
    suspended_at,
    suspended_by: suspended_at === null ? null : accountShape(world, account),
  }
}

/** A pull request; `mergeable` and the counts are in the single one only. */
export function pullShape(world: World, pull: Pull, details: Json = {}): Json {
  const { repository, head_repository, number } = pull
  const url = `${world.url}/repos/${fullName(repository)}/pulls/${number}`
  const side = (from: Repository, ref: string, sha: string) => ({
    label: `${from.owner.login}:${ref}`,
    ref,
    sha,
    user: accountShape(world, from.owner),
    repo: from.deleted ? null : repositoryShape(world, from),
  })
  const { id, state, title, body, draft, created_at, updated_at, closed_at, merged_at, merge_commit_sha } = pull
  return {
    url,
    id,
    node_id: node('PullRequest', id),
    html_url: `${world.url}/${fullName(repository)}/pull/${number}`,
    number,
    state,
    locked: false,
    title,
    user: accountShape(world, pull.user),
    body,
    created_at,
    updated_at,
    closed_at,
    merged_at,
    merge_commit_sha,
    draft,
    assignees: [],
    labels: [],
    requested_reviewers: [],
    requested_teams: [],
    head: side(head_repository, pull.head_branch, pull.head_sha),
    base: side(repository, pull.base_branch, pull.base_sha),
    author_association: pull.user === repository.owner ? 'OWNER' : 'CONTRIBUTOR',
    ...details,
  }
}

export function reviewShape(world: World, pull: Pull, review: Review): Json {
  const { id, user, body, state, commit_id, submitted_at } = review
  const html_url = `${world.url}/${fullName(pull.repository)}/pull/${pull.number}#pullrequestreview-${id}`
  return {
    id,
    node_id: node('PullRequestReview', id),
    user: accountShape(world, user),
    body,
    state: state.toUpperCase(),
    html_url,
    pull_request_url: `${world.url}/repos/${fullName(pull.repository)}/pulls/${pull.number}`,
    submitted_at,
    commit_id,
    author_association: 'MEMBER',
  }
}

/** A commit as the list of commits has it; its accounts are those of the addresses. */
export function commitShape(world: World, repository: Repository, commit: Commit): Json {
  const { sha, tree, parents, author, committer, message } = commit
  const accountOf = ({ email }: { readonly email: string }) => {
    const found = [...world.accounts.values()].find((account) => account.email === email)
    return found === undefined ? null : accountShape(world, found)
  }
  const url = `${world.url}/repos/${fullName(repository)}/commits/${sha}`
  return {
    sha,
    url,
    html_url: `${world.url}/${fullName(repository)}/commit/${sha}`,
    commit: { author, committer, message, tree: { sha: tree }, comment_count: 0 },
    author: accountOf(author),
    committer: accountOf(committer),
    parents: parents.map((parent) => ({ sha: parent })),
  }
}

/** A commit as webhooks have it. */
export function headCommit({ bare }: Repository, sha: string): Json | null {
  const [commit] = bare.log([sha], 1)
  if (commit === undefined) return null
  const { tree, message, author, committer } = commit
  const person = ({ name, email }: Person) => ({ name, email })
  const [by, put] = [person(author), person(committer)]
  return { id: sha, tree_id: tree, message, timestamp: committer.date, author: by, committer: put }
}

export function fileShape(world: World, repository: Repository, head: string, file: ChangedFile): Json {
  const { path, previous_path, status, sha, additions, deletions, patch } = file
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  return {
    sha,
    filename: path,
    status,
    additions,
    deletions,
    changes: additions + deletions,
    blob_url: `${world.url}/${fullName(repository)}/blob/${head}/${encoded}`,
    contents_url: `${world.url}/repos/${fullName(repository)}/contents/${encoded}?ref=${head}`,
    // A patch above 1 MB is left out.
    ...(patch === null || patch.length > 1_000_000 ? {} : { patch }),
    ...(previous_path === null ? {} : { previous_filename: previous_path }),
  }
}

/** Open pull requests of the repository's own branches: those of forks are not listed with checks. */
export function pullsOfSha(world: World, repository: Repository, sha: string): Json[] {
  const side = (from: Repository, ref: string, at: string) => ({
    ref,
    sha: at,
    repo: { id: from.id, url: `${world.url}/repos/${fullName(from)}`, name: from.name },
  })
  return repository.pulls
    .filter((pull) => pull.state === 'open' && pull.head_sha === sha && pull.head_repository === repository)
    .map((pull) => ({
      url: `${world.url}/repos/${fullName(repository)}/pulls/${pull.number}`,
      id: pull.id,
      number: pull.number,
      head: side(repository, pull.head_branch, pull.head_sha),
      base: side(repository, pull.base_branch, pull.base_sha),
    }))
}

/** A check suite; the one inside of a check run is shorter. */
export function suiteShape(world: World, suite: CheckSuite, isInside = false): Json {
  const { id, app, repository, head_sha, head_branch, created_at } = suite
  const runs = world.runs.filter((run) => run.suite === suite)
  const isDone = runs.length > 0 && runs.every(({ status }) => status === 'completed')
  return {
    id,
    node_id: node('CheckSuite', id),
    head_branch,
    head_sha,
    status: isDone ? 'completed' : runs.length === 0 ? 'queued' : 'in_progress',
    conclusion: isDone ? (runs.find(({ conclusion }) => conclusion !== 'success')?.conclusion ?? 'success') : null,
    url: `${world.url}/repos/${fullName(repository)}/check-suites/${id}`,
    pull_requests: pullsOfSha(world, repository, head_sha),
    app: appShape(world, app),
    created_at,
    updated_at: isoTime(world.now()),
    ...(isInside ? {} : { latest_check_runs_count: runs.length, head_commit: headCommit(repository, head_sha) }),
  }
}

export function runShape(world: World, run: CheckRun, isInside = false): Json {
  const { id, suite, name, external_id, details_url, status, conclusion, started_at, completed_at } = run
  const { repository, head_sha, app } = suite
  const url = `${world.url}/repos/${fullName(repository)}/check-runs/${id}`
  const { title, summary, text, annotations } = run
  return {
    id,
    name,
    node_id: node('CheckRun', id),
    head_sha,
    external_id,
    url,
    html_url: `${world.url}/${fullName(repository)}/runs/${id}`,
    details_url,
    status,
    conclusion,
    started_at,
    completed_at,
    output: {
      title,
      summary,
      text,
      annotations_count: annotations.length,
      annotations_url: `${url}/annotations`,
    },
    check_suite: isInside ? suiteShape(world, suite, true) : { id: suite.id },
    app: appShape(world, app),
    pull_requests: pullsOfSha(world, repository, head_sha),
  }
}

export function annotationShape(world: World, run: CheckRun, annotation: Annotation): Json {
  const { repository, head_sha } = run.suite
  const blob_href = `${world.url}/${fullName(repository)}/blob/${head_sha}/${encodeURI(annotation.path)}`
  return { ...annotation, blob_href }
}

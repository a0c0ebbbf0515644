// `svc connect-repo` and the other commands for repositories of manifests.
import type { Repository, RepositoryList, WebhookSecret } from '@svc/schemas'
import { allRows } from '../account/all-rows.js'
import { indented, rowsWithNotes, type Screen, short } from '../account/columns.js'
import { done, type Output } from '../account/subcommand.js'
import { UsageError } from '../errors.js'
import { conditionNotes } from './conditions.js'
import { type GitSubcommand, idOf, readingTimeoutMs } from './git-subcommand.js'
import { readToken, tokenOption } from './token.js'

export const repositorySubcommands: readonly GitSubcommand[] = [
  {
    call: 'connect-repo',
    description: 'connect a branch of a repository, so that its manifests can be assigned to agents',
    options: [
      ['--url <url>', 'address of a Git host, such as https://git.example.org/acme/policies.git'],
      ['--owner <owner>', 'owner on GitHub, with --name'],
      ['--name <name>', 'name of the repository on GitHub'],
      ['--branch <branch>', 'branch (default: the default branch of the repository)'],
      tokenOption,
    ],
    examples: [
      'connect-repo --owner acme --name policies --token-file token.txt',
      'connect-repo --url https://git.example.org/acme/policies.git --branch main',
    ],
    run: async ({ post, svc }, _args, options) => {
      const { tokenFile } = options
      const request = { ...addressIn(options), ...(tokenFile !== undefined && { token: readToken(tokenFile) }) }
      const repository = await post<Repository>('/api/v1/repos', request, readingTimeoutMs)
      return { lines: connectedLines(svc, repository), json: repository }
    },
  },
  {
    call: 'connect-library',
    description: 'connect the library of manifests again, after it was disconnected',
    examples: ['connect-library'],
    run: async ({ post, svc }) => {
      const repository = await post<Repository>('/api/v1/repos', { library: true }, readingTimeoutMs)
      return { lines: connectedLines(svc, repository), json: repository }
    },
  },
  {
    call: 'list-repos',
    description: 'list the connected repositories, with what keeps a branch from being read',
    examples: ['list-repos'],
    run: async (client) => {
      const repos = await allRows<Repository>(client, '/api/v1/repos', 'repos')
      const json: RepositoryList = { repos, total: repos.length, next_cursor: null }
      return { lines: repositoryTable(client, repos), json }
    },
  },
  {
    call: 'disconnect-repo <id>',
    description: 'disconnect a repository, after its assignments are removed',
    examples: ['disconnect-repo 2'],
    run: async ({ remove }, [text = '']) => {
      const id = idOf('the id of the repository', text)
      await remove(`/api/v1/repos/${id}`)
      return done(`repository ${id} is disconnected`)
    },
  },
  {
    call: 'repo-token <id>',
    description: 'replace the access token of a repository, and read its branch with the new one',
    options: [tokenOption],
    required: ['token-file'],
    examples: ['repo-token 2 --token-file token.txt'],
    run: async ({ patch, svc }, [text = ''], { tokenFile = '' }) => {
      const id = idOf('the id of the repository', text)
      return stateOf(
        svc,
        await patch<Repository>(`/api/v1/repos/${id}`, { token: readToken(tokenFile) }, readingTimeoutMs),
      )
    },
  },
  {
    call: 'webhook-secret <id>',
    description: 'make the secret of the webhook of a repository and show it, once; the one before stops working',
    examples: ['webhook-secret 2'],
    run: async ({ post }, [text = '']) => {
      const id = idOf('the id of the repository', text)
      const made = await post<WebhookSecret>(`/api/v1/repos/${id}/webhook-secret`)
      return { lines: webhookLines(made), json: made }
    },
  },
]

function connectedLines(svc: string, repository: Repository): string[] {
  const list = `\`svc list-manifests --repo-id ${repository.id}\` lists its manifests`
  return [...stateOf(svc, repository).lines, list]
}

/** The repository that the options name. Throws UsageError unless they name one. */
function addressIn({ url, owner, name, branch }: Readonly<Record<string, string>>) {
  const wanted = 'name the repository with `--url URL`, or with `--owner OWNER --name NAME` for GitHub'
  if (url === undefined && (owner === undefined || name === undefined)) throw new UsageError(wanted)
  if (url !== undefined && (owner !== undefined || name !== undefined))
    throw new UsageError(`\`--url\` and \`--owner\` or \`--name\` are given: ${wanted}`)
  // Not sent and not printed: the password is a secret.
  if (url !== undefined && URL.canParse(url) && (new URL(url).username !== '' || new URL(url).password !== ''))
    throw new UsageError(
      'the URL must not contain a user name or password: write the token to a file for `--token-file`',
    )
  return { ...(url === undefined ? { owner, name } : { url }), ...(branch !== undefined && { branch }) }
}

/** The state of a repository after its branch was read. */
export function stateOf(svc: string, repository: Repository): Output {
  const heading = `repository ${repository.id}: ${nameOf(repository)}, branch ${repository.branch}`
  const isUnreached = repository.status !== 'synced'
  return { lines: [heading, ...stateLines(svc, repository)], json: repository, isUnreached }
}

function stateLines(svc: string, { status, last_commit_sha, conditions }: Repository): string[] {
  const head = last_commit_sha === null ? 'not read yet' : `last read at commit ${last_commit_sha}`
  return [`${status}, ${head}`, ...conditionNotes(conditions).flatMap((note) => indented(svc, note))]
}

function nameOf({ provider, owner, name, url }: Repository): string {
  if (url !== null) return url
  return provider === 'bundled' ? `${owner}/${name} (bundled)` : `${owner}/${name} on GitHub`
}

function repositoryTable(screen: Screen, repos: readonly Repository[]): string[] {
  if (repos.length === 0) return ['no repository is connected: `svc connect-repo` connects one']
  const columns = [
    { heading: 'ID' },
    { heading: 'REPOSITORY', least: 12 },
    { heading: 'BRANCH', least: 12 },
    { heading: 'STATUS' },
    { heading: 'HEAD' },
    { heading: 'LAST READ' },
  ]
  const rows = repos.map((one) => ({
    cells: [
      String(one.id),
      nameOf(one),
      one.branch,
      one.status,
      short(one.last_commit_sha),
      one.last_checked_at?.replace(/\.\d+/, '') ?? 'never',
    ],
    notes: [...conditionNotes(one.conditions), ...tokenNotes(one)],
  }))
  return rowsWithNotes(screen, columns, rows)
}

/** A host that hides a repository from a token does not tell that from one that does not exist. */
function tokenNotes({ id, has_token, conditions }: Repository): string[] {
  const isRevoked = has_token && conditions.some(({ kind }) => kind === 'access_revoked')
  return isRevoked ? [`to store a new token, run \`svc repo-token ${id} --token-file FILE\``] : []
}

/** Address and secret have lines of their own, so that they can be copied. */
function webhookLines({ url, secret }: WebhookSecret): string[] {
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
  const note = 'this address is on this machine only: set SVC_PUBLIC_URL of the platform for a Git host elsewhere'
  return [
    'let the Git host send pushes, as application/json, to',
    url,
    'with this secret, which is shown only once; the secret before is no longer accepted:',
    secret,
    ...(isLocal ? [note] : []),
  ]
}

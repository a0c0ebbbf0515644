// Requests about one repository by an installation, with a token that can do no more than its use needs.
import type { Api, ApiAnswer, Asking } from './api.js'
import { GithubError } from './errors.js'
import type { InstallationTokens, Permissions } from './installation-tokens.js'
import { type Listed, listAll } from './pages.js'

/** A repository of an installation, as GitHub names it now. */
export interface InstalledAt {
  readonly installation_id: number
  readonly github_id: number
  readonly owner: string
  readonly name: string
}

export interface RepositoryClient {
  /** `path` is below the repository. Rejects with GithubError. */
  readonly ask: (method: Asking['method'], path: string, body?: object, maxBytes?: number) => Promise<ApiAnswer>
  /** The items of every page, up to `max_items`. Rejects with GithubError. */
  readonly list: (path: string, member: string | null, max_items: number) => Promise<Listed>
  /** The token of the next request, and not a rejected one. */
  readonly token: (rejected?: string) => Promise<string>
}

interface Parts {
  readonly api: Api
  readonly tokens: InstallationTokens
}

export function repositoryClient(
  { api, tokens }: Parts,
  { installation_id, github_id, owner, name }: InstalledAt,
  permissions: Permissions,
): RepositoryClient {
  const base = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
  const token = (rejected?: string) => tokens.tokenFor({ installation_id, github_id, permissions }, rejected)
  const withToken = async <T>(use: (token: string) => Promise<T>): Promise<T> => {
    const first = await token()
    try {
      return await use(first)
    } catch (error) {
      if (!(error instanceof GithubError && error.status === 401)) throw error
      // It was revoked: GitHub has done nothing yet, and gives another one unless the installation is gone.
      return use(await token(first))
    }
  }
  const as = 'installation' as const
  return {
    ask: (method, path, body, maxBytes) =>
      withToken((one) =>
        api({
          method,
          path: `${base}${path}`,
          token: one,
          as,
          ...(body === undefined ? {} : { body }),
          ...(maxBytes === undefined ? {} : { maxBytes }),
        }),
      ),
    list: (path, member, max_items) =>
      withToken((one) => listAll(api, { path: `${base}${path}`, token: one, as, member, max_items })),
    token,
  }
}

// Requests by an installation, with a token that can do no more than its use needs.
import { type AskGithub, askWith, type GithubApi } from '@svc/platform'
import type { InstallationTokens, Permissions } from './installation-tokens.js'

/** A repository of an installation, as GitHub names it now. */
export interface InstalledAt {
  readonly installation_id: number
  readonly github_id: number
  readonly owner: string
  readonly name: string
}

export interface NarrowedParts {
  readonly api: GithubApi
  readonly tokens: InstallationTokens
}

/** Requests whose path is below the repository. */
export function repositoryClient(
  { api, tokens }: NarrowedParts,
  { owner, name, ...of }: InstalledAt,
  permissions: Permissions,
): AskGithub {
  const base = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`
  const ask = askWith(api, 'installation', (rejected) => tokens.tokenFor({ ...of, permissions }, rejected))
  return ({ path, ...request }) => ask({ ...request, path: `${base}${path}` })
}

/** Requests about every repository of an installation, by which no content can be read. */
export function metadataClient({ api, tokens }: NarrowedParts, installation_id: number): AskGithub {
  const wanted = { installation_id, github_id: null, permissions: { metadata: 'read' } } as const
  return askWith(api, 'installation', (rejected) => tokens.tokenFor(wanted, rejected))
}

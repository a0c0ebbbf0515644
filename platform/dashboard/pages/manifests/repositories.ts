// The list of connected repositories.
import type { Repository } from '@svc/schemas'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { type Html, hash, joined, link, nothing, piece, text, time } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { tabs } from './tabs.js'
import { repositoryName, repositoryState } from './words.js'

const repositories: Listing<Repository> = {
  place: 'manifests',
  title: 'Manifests: repositories',
  path: '/manifests/repositories',
  schema: 'repository-list',
  rows: 'repos',
  endpoint: '/api/v1/repos',
  filters: [
    {
      kind: 'choice',
      name: 'status',
      label: 'Status',
      values: [
        ['synced', 'read'],
        ['degraded', 'cannot be read'],
      ],
    },
  ],
  columns: [
    {
      head: 'Repository',
      cell: (one) => joined([link(paths.repository(one.id), repositoryName(one)), text(one.url)]),
    },
    { head: 'Branch', cell: ({ branch, provider }) => text(provider === 'bundled' ? 'this release' : branch) },
    { head: 'Status', cell: repositoryState },
    { head: 'Commit', cell: ({ last_commit_sha }) => hash(last_commit_sha, 10) },
    { head: 'Last read', cell: ({ last_checked_at }) => time(last_checked_at) },
    { head: 'Files', cell: ({ id }) => link(paths.manifest_files({ repo_id: id }), 'manifests') },
    { head: 'Webhook', cell: ({ has_webhook, installation_id }) => text(webhook(has_webhook, installation_id)) },
  ],
  empty: 'No repository is connected. Connect one to govern agents by manifests in Git.',
  above: async (visit) => joined([tabs('repositories'), connect(visit)], ''),
}

function webhook(has_webhook: boolean, installation_id: number | null): string {
  if (installation_id !== null) return 'by the GitHub App'
  return has_webhook ? 'has a secret' : ''
}

function connect({ api: { may } }: Visit): Html {
  return may('post', '/api/v1/repos') ? button({ href: paths.new_repository }) : nothing
}

const button = piece(`<div class="bar"><a class="btn btn-primary" href="{{href}}">Connect a repository…</a></div>
`)

export const repositoriesPage = listPage(repositories)

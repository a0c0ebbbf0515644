// The list of manifests in connected repositories, each validated.
import type { ListedManifest } from '@svc/schemas'
import { listPage } from '../../lists/list-page.js'
import type { Column, Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { badge, counted, type Html, hash, joined, link, nothing, number, text } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { tabs } from './tabs.js'
import { findingBadge, repositoryName } from './words.js'

const files: Listing<ListedManifest> = {
  place: 'manifests',
  title: 'Manifests: files',
  path: '/manifests/files',
  schema: 'manifest-list',
  rows: 'manifests',
  endpoint: '/api/v1/manifests',
  filters: [
    {
      kind: 'choice',
      name: 'valid',
      label: 'State',
      values: [
        ['true', 'valid'],
        ['false', 'with errors'],
      ],
    },
  ],
  presets: [['With errors', { valid: 'false' }]],
  columns,
  empty:
    'No connected repository has a manifest. Connect a repository on the tab Repositories, or push a manifest to its branch.',
  above: async () => tabs('files'),
}

async function columns({ api: { read } }: Visit): Promise<readonly Column<ListedManifest>[]> {
  const { repos } = await read('repository-list', '/api/v1/repos', { limit: '200' })
  const names = new Map(repos.map((one) => [one.id, repositoryName(one)]))
  return [
    { head: 'File', cell: ({ repo_id, path }) => link(paths.manifest_file(repo_id, path), path) },
    { head: 'Name', cell: ({ name, version }) => joined([text(name), version === null ? nothing : text(version)]) },
    { head: 'Repository', cell: ({ repo_id }) => link(paths.repository(repo_id), names.get(repo_id) ?? repo_id) },
    { head: 'State', cell: stateOf },
    { head: 'Policies', cell: ({ policies }) => text(number(policies)), numeric: true },
    { head: 'Version', cell: ({ blob_sha }) => hash(blob_sha, 10) },
  ]
}

function stateOf({ valid, findings, repo_id, path }: ListedManifest): Html {
  return joined([
    valid ? badge('valid', 'green') : findingBadge('error'),
    findings.length === 0 ? nothing : link(paths.manifest_file(repo_id, path), counted(findings.length, 'finding')),
  ])
}

export const filesPage = listPage(files)

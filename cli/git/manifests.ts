// `svc list-manifests`: the manifests of connected repositories, each validated.
import type { ListedManifest, ManifestList } from '@svc/schemas'
import { allRows } from '../account/all-rows.js'
import { rowsWithNotes, type Screen, short } from '../account/columns.js'
import { type GitSubcommand, idOf } from './git-subcommand.js'

export const manifestSubcommands: readonly GitSubcommand[] = [
  {
    call: 'list-manifests',
    description: 'list the manifests of the connected repositories, with what validation finds',
    options: [['--repo-id <id>', 'manifests of one repository']],
    examples: ['list-manifests --repo-id 2'],
    run: async (client, _args, { repoId }) => {
      const path = repoId === undefined ? '/api/v1/manifests' : `/api/v1/repos/${idOf('`--repo-id`', repoId)}/manifests`
      const manifests = await allRows<ListedManifest>(client, path, 'manifests')
      const json: ManifestList = { manifests, total: manifests.length, next_cursor: null }
      return { lines: manifestTable(client, manifests), json }
    },
  },
]

const columns = [
  { heading: 'REPO' },
  { heading: 'PATH', least: 12 },
  { heading: 'VERSION' },
  { heading: 'POLICIES' },
  { heading: 'STATE' },
  { heading: 'NAME', least: 12 },
]

function manifestTable(screen: Screen, manifests: readonly ListedManifest[]): string[] {
  if (manifests.length === 0) return ['no manifest is there: `svc list-repos` shows whether the branches were read']
  const rows = manifests.map(({ repo_id, path, blob_sha, policies, valid, findings, name }) => ({
    cells: [String(repo_id), path, short(blob_sha), String(policies), valid ? 'valid' : 'invalid', name ?? '–'],
    notes: valid ? [] : findingNotes(findings),
  }))
  return rowsWithNotes(screen, columns, rows)
}

const maxNotes = 3

function findingNotes(findings: ListedManifest['findings']): string[] {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const shown = errors
    .slice(0, maxNotes)
    .map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`)
  return errors.length > maxNotes ? [...shown, `and ${errors.length - maxNotes} more: run \`svc validate\``] : shown
}

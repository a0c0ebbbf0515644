// The versions that an assignment had in force.
import type { Assignment } from '@svc/schemas'
import { address, api, paths } from '../../paths.js'
import type { Named } from '../../people.js'
import { type Html, hash, joined, link, nothing, piece, text, time } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { compareAddress } from './difference.js'
import { putBy } from './words.js'

/** Versions that are shown. */
const maxVersions = 50

/** The section of a page. */
export async function versionsOf({ api: { read, may } }: Visit, assignment: Assignment, nameOf: Named): Promise<Html> {
  const { id, manifest_sha, repo_id } = assignment
  const own = api`/api/v1/assignments/${id}`
  const { versions } = await read('assignment-version-list', `${own}/versions`)
  const pins = repo_id !== null && may('post', `${own}/pin`)
  return section({
    versions: versions.slice(0, maxVersions).map(({ manifest_sha: sha, from_at, until_at, put_by }) => ({
      version: joined([hash(sha), link(paths.assignment_source(id, { sha }), 'text')]),
      from: time(from_at),
      until: until_at === null ? text('now') : time(until_at),
      by: nameOf(putBy(put_by)),
      acts:
        sha === manifest_sha
          ? nothing
          : joined([
              link(`${compareAddress(id, sha)}#difference`, 'compare'),
              pins ? link(address(paths.assignment(id), { do: 'pin', sha }), 'roll back…') : nothing,
            ]),
    })),
    more: versions.length > maxVersions ? `The last ${maxVersions} versions are shown.` : '',
  })
}

const section =
  piece(`<section class="card"><div class="card-header"><h2 class="card-title">Versions</h2></div><table class="table rows"><thead><tr><th scope="col">Version</th><th scope="col">In force from</th><th scope="col">To</th><th scope="col">Put in force by</th><th scope="col"><span class="visually-hidden">Acts</span></th></tr></thead><tbody>
{{#each versions}}<tr><td data-label="Version">{{version}}</td><td data-label="From">{{from}}</td><td data-label="To">{{until}}</td><td data-label="By">{{by}}</td><td data-label="Acts">{{acts}}</td></tr>
{{/each}}</tbody></table>{{#if more}}<div class="card-footer">{{more}}</div>{{/if}}</section>
`)

import { type Transaction, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { pageOf } from '../../http/paging.js'
import type { Query } from '../../http/query.js'
import { byReader, parameters, route } from '../../http/route.js'
import { repositoryNotFound } from '../errors.js'
import { cursorOf, placeAfter } from '../manifest-cursor.js'
import type { GitParts } from '../parts.js'
import { listFiles } from '../store/files.js'
import { findRepository } from '../store/repositories.js'
import { repoIdOf } from './repositories.js'

const tag = 'Repositories'

const query = {
  path: { ...parameters.text('one file, by its path'), maxLength: 1000 },
  valid: parameters.flag('false for manifests with errors'),
  limit: parameters.limit(200, 50),
  // A path of 1,000 bytes, encoded.
  cursor: { ...parameters.cursor, maxLength: 4000 },
}

export const manifestRoutes = [
  route({
    method: 'get',
    path: '/api/v1/repos/{id}/manifests',
    summary: 'List the manifests of a repository, each validated',
    tag,
    access: byReader,
    query,
    responses: { 200: 'manifest-list' },
    handle: async ({ scope, params, query }, { db }: GitParts) => {
      const repo_id = repoIdOf(params.id)
      return withSnapshot(db, scope, async (tx) => {
        if ((await findRepository(scope, tx, repo_id)) === null) throw repositoryNotFound()
        return manifestsReply(scope, tx, repo_id, query)
      })
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/manifests',
    summary: 'List the manifests of all connected repositories',
    tag,
    access: byReader,
    query: { repo_id: parameters.id('manifests of one repository'), ...query },
    responses: { 200: 'manifest-list' },
    handle: async ({ scope, query }, { db }: GitParts) => {
      const repo_id = query.repo_id === undefined ? undefined : Number(query.repo_id)
      return withSnapshot(db, scope, (tx) => manifestsReply(scope, tx, repo_id, query))
    },
  }),
]

async function manifestsReply(scope: Scope, tx: Transaction, repo_id: number | undefined, query: Query) {
  const { limit, after } = pageOf(query)
  const filter = { repo_id, path: query.path, valid: query.valid }
  const { rows, total } = await listFiles(scope, tx, filter, { limit, after: placeAfter(after) })
  return { status: 200, body: { manifests: rows, total, next_cursor: cursorOf(rows, limit) } }
}

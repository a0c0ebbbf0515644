// The schemas with which editors complete and check manifests: the same for every caller, so that an editor needs no account.
import { createHash } from 'node:crypto'
import { documents } from '@svc/schemas'
import { isKnown } from '../../http/etag.js'
import { byAnonymous, route } from '../../http/route.js'

const type = 'application/schema+json'

export const schemaRoutes = [
  schemaRoute('manifest', 'Get the JSON Schema of manifests, for editors'),
  schemaRoute('manifest-tests', 'Get the JSON Schema of test files of manifests, for editors'),
]

function schemaRoute(name: 'manifest' | 'manifest-tests', summary: string) {
  const body = documents[name]
  const etag = `"${createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 32)}"`
  const headers = { etag, 'cache-control': 'public, max-age=3600' }
  return route({
    method: 'get',
    path: `/api/v1/schemas/${name}.json`,
    summary,
    tag: 'Policies',
    access: byAnonymous,
    limit: 'none',
    responses: { 304: null },
    file: type,
    handle: async ({ header }) =>
      isKnown(etag, header('if-none-match'))
        ? { status: 304, headers }
        : { status: 200, body, headers: { ...headers, 'content-type': type } },
  })
}

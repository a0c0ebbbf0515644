import { parseTimestamp } from '@svc/schemas'
import { PlatformError } from '../../errors.js'
import { byAuditor, parameters, route } from '../../http/route.js'
import type { Bundles } from './bundles.js'

const zip = 'application/zip'

export interface BundleParts {
  readonly bundles: Bundles
}

export const bundleRoutes = [
  route({
    method: 'get',
    path: '/api/v1/log/bundle',
    summary: 'Download a proof bundle: a period of the log that can be verified offline',
    tag: 'Log',
    access: byAuditor,
    query: {
      from: parameters.time('received at or after; default: the beginning of the log'),
      to: parameters.time('received before; default: the last signed entry'),
      report: parameters.text(
        'id of an issued report: its period, with the leaf that holds its SHA-256 and what the report reads; without `from` and `to`',
      ),
      since: parameters.id('size of an earlier checkpoint, to prove that the log continues it'),
    },
    responses: {},
    file: zip,
    handle: async ({ scope, query }, parts: BundleParts) => {
      const [from, to] = [timeOf(query.from), timeOf(query.to)]
      if (from !== null && to !== null && from >= to) {
        const message = '`to` must be later than `from`'
        throw new PlatformError('INVALID', message, { errors: [{ path: 'to', message }] })
      }
      const { report } = query
      if (report !== undefined && (from !== null || to !== null))
        throw new PlatformError('MALFORMED', 'give either `report` or `from` and `to`: a report has its own period')
      const since = query.since === undefined ? null : Number(query.since)
      const made = await parts.bundles.make(scope, { from, to, since, report: report ?? null })
      return { status: 200, file: { ...made, type: zip, name: `${scope.org_id}-log.zip` } }
    },
  }),
]

function timeOf(text: string | undefined): number | null {
  return text === undefined ? null : parseTimestamp(text)
}

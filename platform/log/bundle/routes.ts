import { parseTimestamp } from '@svc/schemas'
import { PlatformError } from '../../errors.js'
import { byAuditor, parameters, type Route } from '../../http/route.js'

const zip = 'application/zip'

export const bundleRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/api/v1/log/bundle',
    summary: 'A period of the log with everything it takes to verify it offline',
    tag: 'Log',
    access: byAuditor,
    query: {
      from: parameters.time('received at or after; default since the log began'),
      to: parameters.time('received before; default as far as the log is signed for'),
      since: parameters.id('size of a checkpoint that you kept, to show that the log has grown out of it'),
    },
    responses: {},
    file: zip,
    handle: async ({ platform, scope, query }) => {
      const [from, to] = [timeOf(query.from), timeOf(query.to)]
      if (from !== null && to !== null && from >= to) {
        const message = '`to` must be later than `from`'
        throw new PlatformError('INVALID', message, { errors: [{ path: 'to', message }] })
      }
      const since = query.since === undefined ? null : Number(query.since)
      const made = await platform.bundles.make(scope, { from, to, since })
      return { status: 200, file: { ...made, type: zip, name: `${scope.org_id}-log.zip` } }
    },
  },
]

function timeOf(text: string | undefined): number | null {
  return text === undefined ? null : parseTimestamp(text)
}

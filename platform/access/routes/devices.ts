import type { DeviceDecision, DeviceTokenRequest } from '@svc/schemas'
import { askDevice, beginDevice, decideDevice } from '../commands/device.js'
import { invalid, PlatformError } from '../../errors.js'
import { isForm } from '../../http/oauth.js'
import { byNobody, byPerson, type Route } from '../../http/route.js'
import { personOf } from './auth.js'

const tag = 'Sign-in'

/** RFC 8628 §3.4. */
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

export const deviceRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/auth/device/code',
    summary: 'Start a device authorization: a code for a person to type (RFC 8628)',
    tag,
    access: byNobody,
    oauth: true,
    body: 'device-request',
    responses: { 200: 'device-code', 400: 'oauth-error' },
    handle: async ({ platform }) => ({ status: 200, body: await beginDevice(platform) }),
  },
  {
    method: 'post',
    path: '/auth/device/token',
    summary: 'Ask for the tokens of a device authorization (RFC 8628)',
    tag,
    access: byNobody,
    oauth: true,
    body: 'device-token-request',
    responses: { 200: 'session-tokens', 400: 'oauth-error' },
    limit: 'by_poller',
    handle: async ({ platform, body, header }) => {
      const device_code = deviceCodeOf(body as DeviceTokenRequest, isForm(header('content-type')))
      return { status: 200, body: await askDevice(platform, device_code) }
    },
  },
  {
    ...{ method: 'post', path: '/auth/device/decision', summary: 'Let the program in that shows this code, or do not' },
    ...{ tag, access: byPerson, body: 'device-decision' },
    responses: { 204: null },
    handle: async (call) => {
      const { person_id } = personOf(call)
      const { user_code, decision } = call.body as DeviceDecision
      await call.platform.limits.by_person.take(person_id)
      await decideDevice(call.platform, person_id, user_code, decision === 'approve')
      return { status: 204 }
    },
  },
]

/** The code of a complete request. Throws UNSUPPORTED_GRANT_TYPE or INVALID. */
function deviceCodeOf({ grant_type, device_code }: DeviceTokenRequest, is_form: boolean): string {
  if (grant_type !== undefined && grant_type !== deviceGrant)
    throw new PlatformError('UNSUPPORTED_GRANT_TYPE', `\`grant_type\` must be \`${deviceGrant}\``)
  const missing = [
    ...(is_form && grant_type === undefined ? ['grant_type'] : []),
    ...(device_code === undefined || device_code === '' ? ['device_code'] : []),
  ]
  if (device_code === undefined || missing.length > 0)
    throw invalid(missing.map((path) => ({ path, message: 'is missing' })))
  return device_code
}

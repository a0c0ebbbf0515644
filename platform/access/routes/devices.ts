import type { DeviceTokenRequest } from '@svc/schemas'
import { invalid, PlatformError } from '../../errors.js'
import { isForm } from '../../http/oauth.js'
import { personOf } from '../../http/principal.js'
import { byAnonymous, byPerson, route } from '../../http/route.js'
import { beginDevice, decideDevice, pollDevice } from '../commands/authorize-device.js'
import type { AccessParts } from '../parts.js'

const tag = 'Sign-in'

/** RFC 8628 §3.4. */
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

export const deviceRoutes = [
  route({
    method: 'post',
    path: '/auth/device/code',
    summary: 'Start a device authorization (RFC 8628)',
    tag,
    access: byAnonymous,
    oauth: true,
    body: 'device-request',
    responses: { 200: 'device-code', 400: 'oauth-error' },
    handle: async (_call, parts: AccessParts) => ({ status: 200, body: await beginDevice(parts) }),
  }),
  route({
    method: 'post',
    path: '/auth/device/token',
    summary: 'Poll for the tokens of a device authorization (RFC 8628)',
    tag,
    access: byAnonymous,
    oauth: true,
    body: 'device-token-request',
    responses: { 200: 'session-tokens', 400: 'oauth-error' },
    limit: 'by_poller',
    handle: async ({ body, header }, parts: AccessParts) => {
      const device_code = deviceCodeOf(body, isForm(header('content-type')))
      return { status: 200, body: await pollDevice(parts, device_code) }
    },
  }),
  route({
    method: 'post',
    path: '/auth/device/decision',
    summary: 'Approve or deny the program that shows a code',
    tag,
    access: byPerson,
    body: 'device-decision',
    responses: { 204: null },
    handle: async (call, parts: AccessParts) => {
      const { person_id } = personOf(call.principal)
      const { user_code, decision } = call.body
      await parts.limits.by_person.take(person_id)
      await decideDevice(parts, person_id, user_code, decision === 'approve')
      return { status: 204 }
    },
  }),
]

/** The device code of a valid request. Throws UNSUPPORTED_GRANT_TYPE or INVALID. */
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

import type { DeviceDecision, DeviceTokenRequest } from '@svc/schemas'
import { askDevice, beginDevice, decideDevice } from '../commands/device.js'
import { byNobody, byPerson, type Route } from '../http/route.js'
import { personOf } from './auth.js'

const tag = 'Sign-in'

export const deviceRoutes: readonly Route[] = [
  {
    ...{ method: 'post', path: '/auth/device/code', summary: 'Begin to let a program in: a code for a person to type' },
    ...{ tag, access: byNobody, body: 'device-request' },
    responses: { 200: 'device-code' },
    handle: async ({ platform }) => ({ status: 200, body: await beginDevice(platform) }),
  },
  {
    ...{
      method: 'post',
      path: '/auth/device/token',
      summary: 'Ask whether the person has decided',
      tag,
      access: byNobody,
    },
    body: 'device-token-request',
    responses: { 200: 'session-tokens' },
    limit: 'by_poller',
    handle: async ({ platform, body }) => ({
      status: 200,
      body: await askDevice(platform, (body as DeviceTokenRequest).device_code),
    }),
  },
  {
    ...{ method: 'post', path: '/auth/device/decision', summary: 'Let the program in that shows this code, or do not' },
    ...{ tag, access: byPerson, body: 'device-decision' },
    responses: { 204: null },
    handle: async (call) => {
      const { person_id } = personOf(call)
      const { user_code, decision } = call.body as DeviceDecision
      call.platform.limits.by_person.take(person_id)
      await decideDevice(call.platform, person_id, user_code, decision === 'approve')
      return { status: 204 }
    },
  },
]

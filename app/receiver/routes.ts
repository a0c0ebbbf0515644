import { byAnonymous, type Route, route } from '@svc/platform'
import { type ReceiverParts, receive } from './receive.js'

/** The address that the settings of the App name as its webhook. */
export const webhookPath = '/api/v1/github/webhook'

export function receiverRoutes(parts: ReceiverParts): Route<unknown>[] {
  return [
    route({
      method: 'post',
      path: webhookPath,
      summary: 'Receive a delivery of the GitHub App, signed with its webhook secret',
      tag: 'Repositories',
      access: byAnonymous,
      limit: 'none',
      signed: true,
      responses: { 200: 'github-receipt', 202: 'github-receipt' },
      handle: async ({ raw, header }) => {
        const { status, outcome } = await receive(parts, raw, header)
        return { status, body: { outcome } }
      },
    }),
  ]
}

// Signed webhooks after the Standard Webhooks specification, version 1: https://www.standardwebhooks.com
import { createHmac, randomBytes } from 'node:crypto'
import { actionSecretContext } from '../../../secrets/store.js'
import type { ActionKindDefinition } from './kind.js'
import { post, readAddress } from './post.js'

const prefix = 'whsec_'

export const webhook: ActionKindDefinition = {
  read: (parts, config) => readAddress(parts, 'webhook', config, withoutSecrets),
  newSecret: () => `${prefix}${randomBytes(32).toString('base64')}`,
  send: (parts, org_id, receiver, { id, body }, signal) => {
    const { sealed_secret, sealed_previous_secret, previous_secret_until } = receiver
    const now = parts.clock()
    const previous = (previous_secret_until ?? 0) > now ? sealed_previous_secret : null
    const secrets = [sealed_secret, previous].flatMap((sealed) =>
      sealed === null ? [] : [parts.sealer.open(actionSecretContext(org_id, receiver.id), sealed).toString()],
    )
    return post(parts, org_id, receiver, { headers: webhookHeaders({ id, body, now, secrets }), body }, signal)
  },
}

/** A query often holds a token, and so does a long part of a path. */
function withoutSecrets(url: string): string {
  const { origin, pathname, search } = new URL(url)
  const path = pathname.replaceAll(/[^/]{12,}(?=[^/]{4})/g, '…')
  return `${origin}${path}${search === '' ? '' : '?…'}`
}

interface Signed {
  readonly id: string
  readonly body: string
  /** Of the attempt, ms since 1970. */
  readonly now: number
  /** The current secret, and during a rotation the previous one. */
  readonly secrets: readonly string[]
}

/** The headers of one attempt: one signature of `id.timestamp.body` for each secret. */
function webhookHeaders({ id, body, now, secrets }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

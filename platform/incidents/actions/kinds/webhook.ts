// Signed webhooks after the Standard Webhooks specification, version 1: https://www.standardwebhooks.com
import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

export interface Signed {
  readonly id: string
  readonly body: string
  /** Of the attempt, ms since 1970. */
  readonly now: number
  /** The current secret, and during a rotation the previous one. */
  readonly secrets: readonly string[]
}

export function newSecret(): string {
  return `${prefix}${randomBytes(32).toString('base64')}`
}

/** The headers of one attempt: one signature of `id.timestamp.body` for each secret. */
export function webhookHeaders({ id, body, now, secrets }: Signed): Record<string, string> {
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

// Sends one delivery by the kind of its action. What is wrong with the receiver becomes an attempt, not an exception.
import { parseJson } from '@svc/proof'
import { MailRejected } from '../../../mail/mail.js'
import { TooLarge } from '../../../outgoing/outgoing.js'
import { TargetError } from '../../../outgoing/targets.js'
import { actionSecretContext, actionTargetContext } from '../../../secrets/store.js'
import { type Attempt, retryAfterOf } from '../outcome.js'
import type { SendingParts } from '../parts.js'
import type { Receiver } from '../store/claims.js'
import { slackBody } from './slack.js'
import { type DeliveryBody, summaryOf } from './summary.js'
import { webhookHeaders } from './webhook.js'

export interface Message {
  readonly id: string
  /** The bytes of a webhook; other kinds are made from it. */
  readonly body: string
}

export interface Sending {
  readonly attempt: Attempt
  /** The body of the answer; null without one. */
  readonly text: string | null
}

/** Longer than any attempt should take, and shorter than its claim: mail servers can be slow. */
const maxMailMs = 15_000

/** Never rejects. */
export async function sendMessage(
  parts: SendingParts,
  org_id: string,
  receiver: Receiver,
  message: Message,
  signal: AbortSignal,
): Promise<Sending> {
  try {
    if (receiver.kind === 'email') return await mail(parts, receiver, message)
    return await post(parts, org_id, receiver, message, signal)
  } catch (error) {
    if (signal.aborted) return { attempt: { kind: 'interrupted' }, text: null }
    const reason = reasonOf(error)
    const kind = error instanceof MailRejected || error instanceof TooLarge ? 'rejected' : 'unreachable'
    return { attempt: { kind, reason }, text: null }
  }
}

async function post(
  { sealer, outgoing, clock, public_url }: SendingParts,
  org_id: string,
  receiver: Receiver,
  { id, body }: Message,
  signal: AbortSignal,
): Promise<Sending> {
  const now = clock()
  const opened = (context: string, sealed: string | null) =>
    sealed === null ? [] : [sealer.open(context, sealed).toString()]
  const secretContext = actionSecretContext(org_id, receiver.id)
  const [url] = opened(actionTargetContext(org_id, receiver.id), receiver.sealed_target)
  if (url === undefined) throw new Error('the action has no address: set `config.url`')
  const isRotated = (receiver.previous_secret_until ?? 0) > now
  const secrets = [
    ...opened(secretContext, receiver.sealed_secret),
    ...(isRotated ? opened(secretContext, receiver.sealed_previous_secret) : []),
  ]
  const sent =
    receiver.kind === 'slack'
      ? {
          headers: { 'content-type': 'application/json' },
          body: slackBody(summaryOf(parseJson(body) as DeliveryBody, public_url)),
        }
      : { headers: webhookHeaders({ id, body, now, secrets }), body }
  const { status, text, headers } = await outgoing.send(url, { method: 'POST', ...sent, signal })
  return { attempt: { kind: 'answered', status, retry_after: retryAfterOf(headers['retry-after'], clock()) }, text }
}

async function mail({ mailer, public_url }: SendingParts, receiver: Receiver, { id, body }: Message): Promise<Sending> {
  const { title, lines, link } = summaryOf(parseJson(body) as DeliveryBody, public_url)
  const values = { title, lines, link: link ?? '', action: receiver.name }
  const sent = mailer.sendToGroup({ to: receiver.config.to ?? [], id, name: 'action', values })
  const rejected = await within(maxMailMs, sent)
  const text = rejected.length === 0 ? null : `the mail server rejects ${rejected.join(', ')}`
  return { attempt: { kind: 'answered', status: 250, retry_after: null }, text }
}

/** Rejects when the work takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the mail server did not take the mail within ${ms / 1000} s`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string }
  if (error instanceof TargetError) return `the address must not be called: ${message}`
  if (code === 'ENCRYPTION_KEY_INVALID')
    return 'the secrets of this action were sealed with another encryption key: restore that key, or set `config.url` again and rotate the secret'
  if (/^no response/.test(message ?? '')) return `${message}: check that the receiver runs and can be reached from here`
  return message ?? 'no reason given'
}

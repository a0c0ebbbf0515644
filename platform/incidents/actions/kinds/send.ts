// Sends one delivery by the kind of its action. What is wrong with the receiver becomes an attempt, not an exception.
import { MailRejected } from '../../../mail/mail.js'
import { TooLarge } from '../../../outgoing/outgoing.js'
import { TargetError } from '../../../outgoing/targets.js'
import type { SendingParts } from '../parts.js'
import type { Receiver } from '../store/attempts.js'
import type { Message, Sending } from './kind.js'
import { kinds } from './kinds.js'

/** Never rejects. */
export async function sendMessage(
  parts: SendingParts,
  org_id: string,
  receiver: Receiver,
  message: Message,
  signal: AbortSignal,
): Promise<Sending> {
  try {
    return await kinds[receiver.kind].send(parts, org_id, receiver, message, signal)
  } catch (error) {
    if (signal.aborted) return { attempt: { kind: 'interrupted' }, text: null }
    const reason = reasonOf(error)
    const kind = error instanceof MailRejected || error instanceof TooLarge ? 'rejected' : 'unreachable'
    return { attempt: { kind, reason }, text: null }
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

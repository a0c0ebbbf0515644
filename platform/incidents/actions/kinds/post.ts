// Kinds that post to an address.
import { type FieldError, invalid } from '../../../errors.js'
import { actionTargetContext } from '../../../secrets/store.js'
import { retryAfterOf } from '../outcome.js'
import type { ActionParts, SendingParts } from '../parts.js'
import type { Receiver } from '../store/attempts.js'
import type { Config, ReadConfig, Sending } from './kind.js'

/** The address of a configuration; `shown` leaves out what is secret in it. Throws INVALID for an address that must not be called. */
export function readAddress(
  { outgoing }: ActionParts,
  kind: string,
  { url, to }: Config,
  shown: (url: string) => string,
): ReadConfig {
  const errors: FieldError[] = []
  const problem = url === undefined ? null : outgoing.targets.problemOf(url)
  if (url === undefined)
    errors.push({ path: 'config.url', message: `is missing: set the address that receives the ${kind} requests` })
  else if (url.includes('…'))
    errors.push({ path: 'config.url', message: 'is shortened, as answers show it: write the whole address' })
  else if (problem !== null) errors.push({ path: 'config.url', message: `must not be called: ${problem}` })
  if (to !== undefined)
    errors.push({ path: 'config.to', message: `is only for the kind email: remove it, found kind ${kind}` })
  if (errors.length > 0 || url === undefined) throw invalid(errors)
  return { config: { url: shown(url) }, target: url }
}

/** Posts to the address of the receiver. Rejects when it gives no answer. */
export async function post(
  { sealer, outgoing, clock }: SendingParts,
  org_id: string,
  { id, sealed_target }: Receiver,
  request: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal: AbortSignal,
): Promise<Sending> {
  if (sealed_target === null) throw new Error('the action has no address: set `config.url`')
  const url = sealer.open(actionTargetContext(org_id, id), sealed_target).toString()
  const { status, text, headers } = await outgoing.send(url, { method: 'POST', ...request, signal })
  return { attempt: { kind: 'answered', status, retry_after: retryAfterOf(headers['retry-after'], clock()) }, text }
}

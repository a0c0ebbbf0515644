// One way in which an action reaches its receiver. A new kind is a file here, a line in kinds.ts, and its name in
// schemas/actions/action-kind.json.
import type { Action, ActionRequest } from '@svc/schemas'
import type { Attempt } from '../outcome.js'
import type { ActionParts, SendingParts } from '../parts.js'
import type { Receiver } from '../store/attempts.js'

export type Config = ActionRequest['config']

export interface ReadConfig {
  /** As it is shown. */
  readonly config: Action['config']
  /** The address of the receiver, which is a secret; null for mail. */
  readonly target: string | null
}

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

export interface ActionKindDefinition {
  /** Throws INVALID for a configuration of another kind, and for a receiver that must not be called. */
  readonly read: (parts: ActionParts, config: Config) => ReadConfig
  /** Makes a signing secret; null for a kind that signs nothing. */
  readonly newSecret: (() => string) | null
  /** One attempt. Rejects when the receiver gives no answer. */
  readonly send: (
    parts: SendingParts,
    org_id: string,
    receiver: Receiver,
    message: Message,
    signal: AbortSignal,
  ) => Promise<Sending>
}

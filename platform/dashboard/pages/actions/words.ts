// Actions in words for people.
import type { Action } from '@svc/schemas'

export const kinds = [
  ['webhook', 'Webhook'],
  ['email', 'Mail'],
  ['slack', 'Slack'],
] as const satisfies readonly (readonly [Action['kind'], string])[]

export const kindLabels: Readonly<Record<Action['kind'], string>> = Object.fromEntries(kinds) as Record<
  Action['kind'],
  string
>

/** What each kind does, for a person who chooses one. */
export const kindSentences: Readonly<Record<Action['kind'], string>> = {
  webhook:
    'Sends a signed POST request to an address of yours. The receiver checks the signature with the secret of the action.',
  email: 'Sends a mail to people.',
  slack: 'Posts a message to a channel, by the address of an incoming webhook of Slack.',
}

/** What triggers an action. */
export const triggers = [
  ['incident.created', 'an incident was opened'],
  ['incident.changed', 'an incident was reviewed, resolved, ignored or reactivated, or got a note'],
  ['task.unfinished', 'a task has not ended, and had no step for an hour'],
  ['step.unrecorded', 'a step was not recorded in time after its decision'],
  ['trace.gap', 'an engine had to drop steps before it could send them'],
  ['log.invalid', 'the log cannot be signed: an entry is missing or was altered'],
  ['resync.failed', 'a branch of manifests, or one of its manifests, cannot be read'],
  ['assignment.held', 'a new version of a manifest waits for approval'],
] as const satisfies readonly (readonly [Action['on'][number], string])[]

const triggerLabels = new Map<string, string>(triggers)

export function triggerLabel(name: string): string {
  return triggerLabels.get(name) ?? name
}

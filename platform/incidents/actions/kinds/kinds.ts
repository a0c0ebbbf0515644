import type { Action } from '@svc/schemas'
import { email } from './email.js'
import type { ActionKindDefinition } from './kind.js'
import { slack } from './slack.js'
import { webhook } from './webhook.js'

export const kinds: Readonly<Record<Action['kind'], ActionKindDefinition>> = { webhook, email, slack }

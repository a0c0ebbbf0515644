// Every handler; nothing else lists them.
import type { Handler } from './handler.js'
import { installation } from './installation.js'
import { mergeGroup } from './merge-group.js'
import { pullRequest, pullRequestEdited, pullRequestReview } from './pull-request.js'
import { push } from './push.js'
import { checkRun, checkSuite } from './rerequested.js'

export const handlers: readonly Handler[] = [
  push,
  pullRequest,
  pullRequestEdited,
  pullRequestReview,
  mergeGroup,
  checkRun,
  checkSuite,
  installation,
]

const handled = new Set(handlers.flatMap(({ events }) => events))

/** True if a handler takes the event. */
export function isHandled(event: string, action: string | null): boolean {
  return handled.has(event) || (action !== null && handled.has(`${event}.${action}`))
}

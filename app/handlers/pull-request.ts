import { idIn, type Members, objectIn, shaIn } from '../github/members.js'
import { firstConnection } from './connections.js'
import type { Handler, HandlerParts } from './handler.js'

async function check(parts: HandlerParts, payload: Members): Promise<void> {
  const pull = objectIn(payload, 'pull_request')
  const number = idIn(pull, 'number')
  const connection = await firstConnection(parts, payload)
  if (number !== null && connection !== null) {
    const head = shaIn(objectIn(pull, 'head'), 'sha')
    await parts.checkPullRequest(connection.repo_id, number, head)
  }
}

export const pullRequest: Handler = {
  events: ['pull_request.opened', 'pull_request.synchronize', 'pull_request.reopened', 'pull_request.ready_for_review'],
  run: check,
}

/** Another title changes no result; another base branch does. */
export const pullRequestEdited: Handler = {
  events: ['pull_request.edited'],
  run: async (parts, payload) => {
    const changes = objectIn(payload, 'changes')
    if (Object.hasOwn(changes, 'base')) await check(parts, payload)
  },
}

/** A loosening can need an approving review. */
export const pullRequestReview: Handler = {
  events: ['pull_request_review.submitted', 'pull_request_review.dismissed'],
  run: check,
}

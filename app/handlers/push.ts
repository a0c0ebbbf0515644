import { textIn } from '../github/members.js'
import { connectionsOf } from './connections.js'
import type { Handler } from './handler.js'

/** The branch of a connection is read; other branches and tags concern no assignment. */
export const push: Handler = {
  events: ['push'],
  run: async (parts, payload) => {
    const ref = textIn(payload, 'ref')
    for (const { repo_id, branch } of await connectionsOf(parts, payload))
      if (ref === `refs/heads/${branch}`) await parts.followPush(repo_id)
  },
}

import { checkName } from '../check/parts.js'
import { idIn, type Members, objectIn, shaIn, textIn } from '../github/members.js'
import { firstConnection } from './connections.js'
import type { Handler, HandlerParts } from './handler.js'

async function check(parts: HandlerParts, payload: Members, requested: Members): Promise<void> {
  // Check runs of other Apps reach this one as well.
  if (idIn(objectIn(requested, 'app')) !== parts.app_id) return
  const head_sha = shaIn(requested, 'head_sha')
  const connection = await firstConnection(parts, payload)
  if (head_sha !== null && connection !== null) await parts.checkHead(connection.repo_id, head_sha)
}

export const checkRun: Handler = {
  events: ['check_run.rerequested'],
  run: async (parts, payload) => {
    const requested = objectIn(payload, 'check_run')
    if (textIn(requested, 'name') === checkName) await check(parts, payload, requested)
  },
}

export const checkSuite: Handler = {
  events: ['check_suite.rerequested'],
  run: (parts, payload) => check(parts, payload, objectIn(payload, 'check_suite')),
}

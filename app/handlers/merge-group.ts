import { objectIn, shaIn, textIn } from '../github/members.js'
import { firstConnection } from './connections.js'
import type { Handler } from './handler.js'

export const mergeGroup: Handler = {
  events: ['merge_group.checks_requested'],
  run: async (parts, payload) => {
    const group = objectIn(payload, 'merge_group')
    const head_sha = shaIn(group, 'head_sha')
    const base_sha = shaIn(group, 'base_sha')
    const base_ref = textIn(group, 'base_ref')?.replace(/^refs\/heads\//, '') ?? ''
    const connection = await firstConnection(parts, payload)
    if (head_sha !== null && base_sha !== null && connection !== null)
      await parts.checkMergeGroup(connection.repo_id, { head_sha, base_sha, base_ref })
  },
}

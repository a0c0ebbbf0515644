// Steps of agents other than the one that an engine with policies of a platform governs: they would be evaluated with policies of
// that agent, and stored as its steps.
import { quote } from '../check/quote.js'
import type { PolicySource } from '../source/source.js'
import { escaped, maxName } from './decisions/operator-lines.js'
import { ServeError } from './errors.js'

/** Further ids are not reported: a client may send an id of its own with each task. */
const maxReported = 100

/**
 * Rejects a step of another agent, before anything of it is kept, and reports each id once. `path` is the member with the id. Files
 * govern every agent, so that no id is another one.
 */
export function rejectOtherAgents(source: PolicySource, notify: (line: string) => void) {
  const reported = new Set<string>()
  return (agent_id: string, path: string): void => {
    const { agent } = source.current()
    if (agent === null || agent_id === agent.agent_key || agent_id === agent.agent_id) return
    const [other, own] = [escaped(agent_id, maxName), escaped(agent.agent_key, maxName)]
    if (!reported.has(agent_id) && reported.size < maxReported) {
      reported.add(agent_id)
      notify(
        `another agent: steps with agent_id "${other}" are rejected, because this engine governs "${own}"; start an engine for each agent`,
      )
    }
    const detail = `must be ${quote(agent.agent_key)}, the agent that this engine governs, found ${quote(agent_id)}: start another engine with its key in SVC_AGENT_KEY`
    throw new ServeError('OTHER_AGENT', `\`${path}\`: ${detail}`, [{ path, message: detail }])
  }
}

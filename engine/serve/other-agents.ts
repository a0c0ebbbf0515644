// Steps of agents other than the one that an engine with policies of a platform governs: each other id is reported once.
import type { PolicySource } from '../source/source.js'
import { escaped, maxName } from './blocked-line.js'

/** Further ids are not reported: a client may send an id of its own with each task. */
const maxReported = 100

/** Takes the agent of a step. Files govern every agent, so that no id is another one. */
export function otherAgents(source: PolicySource, notify: (line: string) => void): (agent_id: string) => void {
  const reported = new Set<string>()
  return (agent_id) => {
    const { agent } = source.current()
    if (agent === null || agent_id === agent.agent_key || agent_id === agent.agent_id) return
    if (reported.has(agent_id) || reported.size >= maxReported) return
    reported.add(agent_id)
    const [other, own] = [escaped(agent_id, maxName), escaped(agent.agent_key, maxName)]
    notify(
      `another agent: steps with agent_id "${other}" are governed by the policies of "${own}", the agent of this engine, and its platform stores them as steps of "${own}"; start an engine for each agent`,
    )
  }
}

// Errors about agents.
import { PlatformError } from '../errors.js'

/** NOT_FOUND; `name` is the id or the key of the agent, as the caller sent it. */
export function agentNotFound(name: string): PlatformError {
  return new PlatformError('NOT_FOUND', `agent \`${name}\` does not exist`)
}

/** AGENT_DEACTIVATED. */
export function agentDeactivated(agent_key: string): PlatformError {
  return new PlatformError(
    'AGENT_DEACTIVATED',
    `agent \`${agent_key}\` is deactivated: a member of the workspace can reactivate it`,
  )
}

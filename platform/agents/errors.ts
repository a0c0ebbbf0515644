// Errors about agents.
import { PlatformError } from '../errors.js'

/** NOT_FOUND, with the same message for an unknown agent and for one of another workspace or API key. */
export function agentNotFound(): PlatformError {
  return new PlatformError('NOT_FOUND', 'this agent does not exist')
}

/** AGENT_DEACTIVATED. */
export function agentDeactivated(agent_key: string): PlatformError {
  return new PlatformError(
    'AGENT_DEACTIVATED',
    `agent \`${agent_key}\` is deactivated: a member of the workspace can reactivate it`,
  )
}

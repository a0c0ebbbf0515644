// Registers an agent on its first call, for senders that never register (docs/design/platform.md §2).
import type { AgentRegistration } from '@svc/schemas'
import { withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import type { KeyIdentity } from '../../http/principal.js'
import { agentIdOf, findAgents } from '../store/agents.js'
import { type RegistrationParts, registerAgent } from './register-agent.js'

/**
 * The id of the agent; a known one stays as it is. `spelling`: the id that the sender has for it, where it cannot be a key. Rejects
 * with AGENT_DEACTIVATED, and with CONFLICT for an id that only reads like that of a known agent.
 */
export async function ensureAgent(
  parts: RegistrationParts,
  scope: Scope,
  key: KeyIdentity,
  body: AgentRegistration,
  spelling = body.agent_key,
): Promise<string> {
  const agent_id = agentIdOf(key.first_key_hash, body.agent_key)
  const known = await withTransaction(parts.db, scope, (tx) => findAgents(scope, tx, [agent_id]))
  if (known.length === 0) await registerAgent(parts, scope, key, body, spelling)
  return agent_id
}

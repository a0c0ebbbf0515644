// Every route there is; Express and the OpenAPI document read this list.
import type { Route } from './http/route.js'
import { agentRoutes } from './agents/routes/agents.js'
import { apiKeyRoutes } from './access/routes/api-keys.js'
import { authRoutes } from './access/routes/auth.js'
import { bundleRoutes } from './log/bundle/routes.js'
import { deviceRoutes } from './access/routes/devices.js'
import { engineRoutes } from './ingest/routes/evaluate.js'
import { engineStateRoutes } from './agents/routes/engines.js'
import { erasureRoutes } from './log/retention/routes/erasures.js'
import { eventRoutes } from './log/read/routes/events.js'
import { incidentRoutes } from './incidents/routes.js'
import { keepingRoutes } from './log/retention/routes/retention.js'
import { logProofRoutes } from './log/read/routes/proofs.js'
import { logRoutes } from './ingest/routes/logs.js'
import { policyRoutes } from './policies/routes.js'
import { taskRoutes } from './log/read/routes/tasks.js'
import { workspaceRoutes } from './access/routes/workspaces.js'

// They are tried in this order: what agents send all day comes first.
export const routes: readonly Route[] = [
  ...logRoutes,
  ...engineRoutes,
  ...engineStateRoutes,
  ...agentRoutes,
  ...authRoutes,
  ...deviceRoutes,
  ...workspaceRoutes,
  ...apiKeyRoutes,
  ...logProofRoutes,
  ...bundleRoutes,
  ...taskRoutes,
  ...policyRoutes,
  ...incidentRoutes,
  ...erasureRoutes,
  ...keepingRoutes,
  ...eventRoutes,
]

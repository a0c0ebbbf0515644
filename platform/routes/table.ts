// Every route there is; Express and the OpenAPI document read this list.
import type { Route } from '../http/route.js'
import { agentRoutes } from './agents.js'
import { apiKeyRoutes } from './api-keys.js'
import { authRoutes } from './auth.js'
import { bundleRoutes } from './bundles.js'
import { deviceRoutes } from './devices.js'
import { engineRoutes } from './engine.js'
import { engineStateRoutes } from './engines.js'
import { erasureRoutes } from './erasures.js'
import { eventRoutes } from './events.js'
import { incidentRoutes } from './incidents.js'
import { keepingRoutes } from './keeping.js'
import { logProofRoutes } from './log-proofs.js'
import { logRoutes } from './logs.js'
import { policyRoutes } from './policies.js'
import { taskRoutes } from './tasks.js'
import { workspaceRoutes } from './workspaces.js'

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

// All routes, for Express and the OpenAPI document. Express tries them in this order: the most frequent ones come first.
import { apiKeyRoutes } from './access/routes/api-keys.js'
import { authRoutes } from './access/routes/auth.js'
import { deviceRoutes } from './access/routes/devices.js'
import { workspaceRoutes } from './access/routes/workspaces.js'
import { agentRoutes } from './agents/routes/agents.js'
import { effectivePolicyRoutes } from './agents/routes/effective-policies.js'
import { engineStateRoutes } from './agents/routes/engines.js'
import { dryRunRoutes } from './git/dry-run/routes.js'
import { assignmentRoutes } from './git/routes/assignments.js'
import { manifestRoutes } from './git/routes/manifests.js'
import { repositoryRoutes } from './git/routes/repositories.js'
import { actionRoutes } from './incidents/actions/routes/actions.js'
import { deliveryRoutes } from './incidents/actions/routes/deliveries.js'
import { incidentRoutes } from './incidents/routes/incidents.js'
import { copilotRoutes } from './ingest/routes/copilot.js'
import { engineRoutes } from './ingest/routes/evaluate.js'
import { incidentReportRoutes } from './ingest/routes/incident-reports.js'
import { stepRoutes } from './ingest/routes/logs.js'
import { otlpRoutes } from './ingest/routes/otlp.js'
import { traceRoutes } from './ingest/routes/traces.js'
import { jobRoutes } from './jobs/routes.js'
import { bundleRoutes } from './log/bundle/routes.js'
import { agentToolRoutes } from './log/read/routes/agent-tools.js'
import { eventRoutes } from './log/read/routes/events.js'
import { logRoutes } from './log/read/routes/logs.js'
import { logProofRoutes } from './log/read/routes/proofs.js'
import { taskStepRoutes } from './log/read/routes/steps.js'
import { taskRoutes } from './log/read/routes/tasks.js'
import { erasureRoutes } from './log/retention/routes/erasures.js'
import { retentionRoutes } from './log/retention/routes/retention.js'
import { overviewRoutes } from './overview/routes.js'
import { policyRoutes } from './policies/routes/policies.js'
import { schemaRoutes } from './policies/routes/schemas.js'
import { stopRoutes } from './policies/routes/stops.js'
import { validationRoutes } from './policies/routes/validation.js'
import { writtenPolicyRoutes } from './policies/routes/written-policies.js'
import { reportRoutes } from './reports/routes/reports.js'
import { settingsRoutes } from './settings/routes.js'

export const routes = [
  ...stepRoutes,
  ...traceRoutes,
  ...logRoutes,
  ...copilotRoutes,
  ...engineRoutes,
  ...incidentReportRoutes,
  ...otlpRoutes,
  ...engineStateRoutes,
  ...agentRoutes,
  ...agentToolRoutes,
  ...authRoutes,
  ...deviceRoutes,
  ...workspaceRoutes,
  ...apiKeyRoutes,
  ...logProofRoutes,
  ...bundleRoutes,
  ...taskRoutes,
  ...taskStepRoutes,
  ...effectivePolicyRoutes,
  ...policyRoutes,
  ...writtenPolicyRoutes,
  ...stopRoutes,
  ...validationRoutes,
  ...dryRunRoutes,
  ...repositoryRoutes,
  ...manifestRoutes,
  ...assignmentRoutes,
  ...incidentRoutes,
  ...deliveryRoutes,
  ...actionRoutes,
  ...erasureRoutes,
  ...retentionRoutes,
  ...reportRoutes,
  ...schemaRoutes,
  ...jobRoutes,
  ...eventRoutes,
  ...overviewRoutes,
  ...settingsRoutes,
]

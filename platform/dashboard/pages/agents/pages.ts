// The pages about agents.
import type { DashboardPage } from '../../page.js'
import { agentPage } from './agent.js'
import { agentsPage } from './list.js'

export const agentPages: readonly DashboardPage[] = [agentsPage, agentPage]

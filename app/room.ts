// Puts the GitHub App together as a room of the platform.
import {
  type AskGithub,
  createGithubApi,
  createOutgoing,
  createTargets,
  type Ground,
  installedRepositories,
  organizationsUnscoped,
  PlatformError,
  type ReadingParts,
  type Room,
  readSoon,
  type Scope,
  scopeOf,
  withTransaction,
  withUnscopedTransaction,
} from '@svc/platform'
import { checkJobs, sendHead, sendMergeGroup, sendPullRequest, sendPush, sendUnfinished } from './check-jobs.js'
import type { AppConfig } from './config.js'
import { createAppApi } from './github/app-api.js'
import { appToken } from './github/app-token.js'
import { createInstallationTokens } from './github/installation-tokens.js'
import { createRepeats } from './github/retry-later.js'
import type { HandlerParts } from './handlers/handler.js'
import { isHandled } from './handlers/handlers.js'
import { installationAccess } from './installations/access.js'
import { findInstallation } from './installations/installations-store.js'
import { installationJobs, sendInstallation } from './installations/jobs.js'
import { deliveryJobs } from './receiver/handle-job.js'
import { missedJob } from './receiver/missed.js'
import { createDispatch } from './receiver/probot.js'
import { receiverRoutes } from './receiver/routes.js'

/** A request to GitHub takes no longer, ms. */
const timeoutMs = 30_000

/** Throws INVALID for a workspace that does not exist. */
export async function openApp(config: AppConfig, ground: Ground): Promise<Room> {
  const { db, clock, logger, send, reading } = ground
  const scope = await workspaceOf(config, ground)
  const api_url = ground.config.github_api_url
  // The operator names the address of GitHub, which may be on a private network; no other address is called here.
  const outgoing = createOutgoing(createTargets('all', false), timeoutMs)
  const api = createGithubApi({ outgoing, api_url, clock })
  const asApp: AskGithub = (request) => api('jwt', appToken(config, clock()), request)
  const app = createAppApi(asApp)
  const tokens = createInstallationTokens({ asApp, clock })
  const dispatch = createDispatch({ config, logger })
  const { accounts } = config
  const repeats = createRepeats(logger)
  const warnOnce = oncePerMessage((message) => logger.warn(message))
  const accepting = { api, app, tokens, repeats, scope, accounts, warnOnce }
  const checking = { reading, scope, api, tokens, repeats, app_id: config.app_id, api_url, warn: warnOnce }
  const handler_parts = handlerParts(config, reading, scope)
  return {
    installations: installationAccess({ db, api, asApp, tokens, scope }),
    jobs: [
      ...deliveryJobs({ db, clock, handle: (received) => dispatch(received, handler_parts) }),
      ...installationJobs({ ...accepting, reading, logger, readSoon: readingBy(reading, scope) }),
      ...checkJobs(checking),
      missedJob({ db, clock, send, app, repeats, isHandled }),
    ],
    routes: receiverRoutes({ db, clock, send, secrets: config.webhook_secrets, isHandled }),
    close: outgoing.close,
  }
}

async function workspaceOf({ workspace }: AppConfig, { db, first_workspace }: Ground): Promise<Scope> {
  const system = { kind: 'system' as const, id: 'github' }
  if (workspace === null) return scopeOf(first_workspace, system)
  if ((await withUnscopedTransaction(db, organizationsUnscoped)).includes(workspace)) return scopeOf(workspace, system)
  const message = `SVC_GITHUB_APP_WORKSPACE names no workspace of this installation, found \`${workspace}\`: the first one is ${first_workspace}`
  throw new PlatformError('INVALID', message)
}

function readingBy(reading: ReadingParts, scope: Scope) {
  return async (repo_id: number) => {
    await readSoon(reading, scope, repo_id)
    await sendUnfinished(reading.send, scope, repo_id)
  }
}

function handlerParts({ app_id }: AppConfig, reading: ReadingParts, scope: Scope): HandlerParts {
  const { db, send } = reading
  return {
    app_id,
    connections: (installation_id, github_id) =>
      withTransaction(db, scope, async (tx) => {
        if ((await findInstallation(scope, tx, installation_id)) === null) return []
        const rows = await installedRepositories(scope, tx, { installation_id, github_ids: [github_id] })
        return rows.map(({ id, branch }) => ({ repo_id: id, branch }))
      }),
    followPush: (repo_id) => sendPush(send, scope, repo_id),
    checkPullRequest: (repo_id, number, head) => sendPullRequest(send, scope, repo_id, number, head),
    checkMergeGroup: (repo_id, group) => sendMergeGroup(send, scope, repo_id, group),
    checkHead: (repo_id, head_sha) => sendHead(send, scope, repo_id, head_sha),
    followInstallation: (installation_id) => sendInstallation(send, installation_id),
  }
}

const maxRemembered = 1000

function oncePerMessage(warn: (message: string) => void): (message: string) => void {
  const seen = new Set<string>()
  return (message) => {
    if (seen.has(message)) return
    if (seen.size >= maxRemembered) seen.clear()
    seen.add(message)
    warn(message)
  }
}

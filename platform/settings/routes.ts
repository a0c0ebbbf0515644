// The settings of a workspace as one document.
import { writeYaml } from '@svc/engine/parts'
import type { SettingsDocument } from '@svc/schemas'
import { type Transaction, withSnapshot } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { byAdmin, byReader, parameters, route } from '../http/route.js'
import type { ActionParts } from '../incidents/actions/parts.js'
import { allActions } from '../incidents/actions/store/actions.js'
import { workspaceName } from '../log/bundle/store.js'
import { retentionDays } from '../log/retention/store/retention.js'
import { listViews } from '../overview/views-store.js'
import { applySettings, compareSettings } from './settings-commands.js'

const tag = 'Settings'
const type = 'application/yaml'

export const settingsRoutes = [
  route({
    method: 'get',
    path: '/api/v1/settings',
    summary: 'Get the settings that can be stated by value, as one document without secrets: JSON, or YAML',
    tag,
    access: byReader,
    query: { format: parameters.choice('by default that of `Accept`, else json', ['json', 'yaml']) },
    responses: { 200: 'settings-document' },
    file: type,
    handle: async ({ scope, query, header }, { db }: ActionParts) => {
      const document = await withSnapshot(db, scope, (tx) => settingsOf(scope, tx))
      const format = query.format ?? (header('accept')?.includes(type) ? 'yaml' : 'json')
      if (format === 'json') return { status: 200, body: document }
      const headers = { 'content-disposition': 'attachment; filename="settings.yaml"' }
      const content = Buffer.from(`${comment}${writeYaml(document)}`)
      return { status: 200, bytes: { type: `${type}; charset=utf-8`, content }, headers }
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/settings/compare',
    summary: 'Compare a document of settings with the workspace; nothing changes',
    tag,
    access: byReader,
    body: 'settings-request',
    responses: { 200: 'settings-comparison' },
    handle: async ({ scope, body }, parts: ActionParts) => ({
      status: 200,
      body: await compareSettings(parts, scope, body),
    }),
  }),
  route({
    method: 'post',
    path: '/api/v1/settings/apply',
    summary:
      'Apply a document of settings whole or not at all; the response is the only one with the secrets of new webhooks',
    tag,
    access: byAdmin,
    body: 'settings-request',
    responses: { 200: 'settings-result' },
    handle: async ({ scope, body }, parts: ActionParts) => ({
      status: 200,
      body: await applySettings(parts, scope, body),
    }),
  }),
]

const comment = `# Settings of a workspace. Secrets are left out: an address that is shortened (…) stays as it is when this file is applied.
`

async function settingsOf(scope: Scope, tx: Transaction): Promise<SettingsDocument> {
  const actions = await allActions(scope, tx)
  const views = await listViews(scope, tx)
  return {
    version: 1,
    workspace: { name: (await workspaceName(scope, tx)) ?? '' },
    retention: { retention_days: await retentionDays(scope, tx) },
    actions: actions.map(({ name, kind, on, min_severity, agent_ids, policy_ids, config, enabled }) => {
      return { name, kind, on, min_severity, agent_ids, policy_ids, config, enabled }
    }),
    views: views.map(({ list, name, query }) => ({ list, name, query })),
  }
}

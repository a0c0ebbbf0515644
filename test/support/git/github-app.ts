// A platform with the GitHub App, and a GitHub on this machine where the App is registered by `acme`.
import { createHmac, randomUUID } from 'node:crypto'
import type { Repository as Connected, RepositoryList } from '@svc/schemas'
import { expect, vi } from 'vitest'
import { webhookPath } from '../../../app/receiver/routes.js'
import { type FakeGithub, startFakeGithub } from '../../github/fake-github.js'
import type { Account, App } from '../../github/world.js'
import { type Answer, discard, type Start, startPlatform, type TestPlatform } from '../server/platform.js'
import { soon } from '../server/soon.js'

export { webhookPath }

export const webhookSecret = 'a-secret-of-this-test-only'

export interface GithubApp {
  readonly github: FakeGithub
  readonly owner: Account
  readonly app: App
  readonly platform: TestPlatform
  /** Sends a delivery as GitHub does; `headers` replace those of GitHub. */
  readonly deliver: (event: string, payload: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>
  /** The connected repositories of GitHub. */
  readonly connected: () => Promise<Connected[]>
  /** Waits until the connected repositories have these names. */
  readonly connectedTo: (...names: readonly string[]) => Promise<Connected[]>
  readonly restart: (env?: Readonly<Record<string, string>>) => Promise<void>
  readonly close: () => Promise<void>
}

/** The variables of the App. */
export function appVariables(github: FakeGithub, app: App): Record<string, string> {
  return {
    SVC_GITHUB_API_URL: github.url,
    SVC_GITHUB_APP_ID: String(app.id),
    SVC_GITHUB_APP_PRIVATE_KEY: app.private_key.replaceAll('\n', '\\n'),
    SVC_GITHUB_APP_WEBHOOK_SECRET: webhookSecret,
  }
}

/** Registers the App as the manual says. */
export function registerApp(github: FakeGithub, owner: Account): App {
  const permissions = { contents: 'read', pull_requests: 'read', checks: 'write', merge_queues: 'read' } as const
  const events = [
    'push',
    'pull_request',
    'pull_request_review',
    'check_run',
    'check_suite',
    'merge_group',
    'repository',
  ]
  return github.app({ slug: 'svc-policies', owner, webhook_secret: webhookSecret, permissions, events })
}

export async function openGithubApp(start: Start = {}): Promise<GithubApp> {
  const github = await startFakeGithub()
  const owner = github.account('acme', 'Organization')
  const app = registerApp(github, owner)
  let platform = await startPlatform({ ...start, env: { ...appVariables(github, app), ...start.env } })
  app.webhook_url = `${platform.url}${webhookPath}`
  const connected = async () => {
    const { body } = await platform.call<RepositoryList>('GET', '/api/v1/repos?provider=github&limit=200')
    return body.repos
  }
  return {
    github,
    owner,
    app,
    get platform() {
      return platform
    },
    deliver: (event, payload, headers = {}) => send(platform, event, payload, headers),
    connected,
    connectedTo: (...names) =>
      vi.waitFor(async () => {
        const repos = await connected()
        expect(repos.map(({ owner: one, name }) => `${one}/${name}`).sort()).toEqual([...names].sort())
        return repos
      }, soon),
    restart: async (env) => {
      platform = await platform.restart(env)
      app.webhook_url = `${platform.url}${webhookPath}`
    },
    close: async () => {
      await github.idle()
      await discard(platform)
      await github.close()
    },
  }
}

export function send(
  { call }: Pick<TestPlatform, 'call'>,
  event: string,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const raw = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const sent = {
    'x-github-delivery': randomUUID(),
    'x-github-event': event,
    'x-hub-signature-256': signature(webhookSecret, raw),
    ...headers,
  }
  return call('POST', webhookPath, { as: null, raw, headers: sent })
}

export function signature(secret: string, raw: string | Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`
}

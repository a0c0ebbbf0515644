// A platform in a process of its own, with credentials that a test knows, at an address that stays the same when it is killed.

import { folderWith } from '../engine/serve.js'
import { freePort } from './postgres.js'

export interface SiteProcess {
  /** Of `startProcess`. */
  readonly env: Readonly<Record<string, string>>
  readonly url: string
  /** The answer of a path below /api/v1 to the API key, or to the operator. */
  readonly asKey: <T>(method: string, path: string, body?: unknown) => Promise<T>
  readonly asOperator: <T>(method: string, path: string, body?: unknown) => Promise<T>
  /** Variables with which `svc serve` takes its policies from there. */
  readonly bind: (agent_key: string) => Record<string, string>
}

export async function siteProcess(more: Readonly<Record<string, string>> = {}): Promise<SiteProcess> {
  const api_key = `SvcKey-${'k'.repeat(43)}`
  const operator_token = 'operator-token-of-this-test-1234567890'
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const callAs =
    (token: string) =>
    async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const options = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
      return (await fetch(`${url}/api/v1/${path}`, options)).json() as Promise<T>
    }
  return {
    env: {
      SVC_DATA_DIR: folderWith({}),
      SVC_PORT: port,
      SVC_SEED_API_KEY: api_key,
      SVC_OPERATOR_TOKEN: operator_token,
      ...more,
    },
    url,
    asKey: callAs(api_key),
    asOperator: callAs(operator_token),
    bind: (agent_key) => ({ SVC_API_URL: url, SVC_API_KEY: api_key, SVC_AGENT_KEY: agent_key }),
  }
}

// A platform on a real database over HTTP; every answer is checked against the published document.
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configureGithubApp } from '@svc/app'
import { createChecker } from '@svc/engine/parts'
import { createPlatform, readConfig } from '@svc/platform'
import { parseJson } from '@svc/proof'
import { documents } from '@svc/schemas'
import { sharedPostgres } from './postgres.js'
import { serverKey } from './process.js'

export interface Answer<T = Record<string, unknown>> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

export interface CallOptions {
  readonly as?: 'key' | 'operator' | string | null
  readonly body?: unknown
  /** Sent as it is instead of `body`. */
  readonly raw?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export interface TestPlatform {
  readonly url: string
  readonly api_key: string
  readonly operator_token: string
  readonly data_dir: string
  /** Its environment, for another process on the same data. */
  readonly env: Readonly<Record<string, string>>
  readonly call: <T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions,
  ) => Promise<Answer<T>>
  readonly close: () => Promise<void>
  /** Closes it and starts it again on the same data, with additional variables. */
  readonly restart: (env?: Readonly<Record<string, string>>) => Promise<TestPlatform>
}

export interface Start {
  /**
   * By default a new database on the server of the run, which starts five times as fast; without a server, with null, and
   * with a data directory alone, the embedded database.
   */
  readonly database_url?: string | null
  readonly data_dir?: string
  readonly env?: Readonly<Record<string, string>>
  readonly clock?: () => number
}

export async function startPlatform(given: Start = {}): Promise<TestPlatform> {
  const start = { ...given, database_url: await databaseOf(given) }
  const data_dir = start.data_dir ?? mkdtempSync(join(tmpdir(), 'svc-test-'))
  const env = {
    SVC_DATA_DIR: data_dir,
    SVC_LOG_LEVEL: 'error',
    PATH: process.env.PATH ?? '',
    ...(start.database_url ? { SVC_ENCRYPTION_KEY: serverKey } : {}),
    ...start.env,
    ...(start.database_url ? { SVC_DATABASE_URL: start.database_url } : {}),
  }
  const { value, errors: own } = readConfig(env)
  const { value: room, errors: others } = configureGithubApp(env)
  const errors = [...own, ...others]
  if (errors.length > 0) throw new Error(errors.join('; '))
  const platform = await createPlatform(value, start.clock, undefined, room ?? undefined)
  await new Promise<void>((resolve) => platform.listener.listen(0, '127.0.0.1', () => resolve()))
  const url = `http://127.0.0.1:${(platform.listener.address() as AddressInfo).port}`
  const { operator_token } = platform.credentials
  // Another process of the database may have created the first key.
  const api_key = platform.credentials.api_key ?? ''
  const check = await responseChecker(url)
  const call = async <T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> => {
    const { as = 'operator' } = options
    const token = as === 'key' ? api_key : as === 'operator' ? operator_token : as
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(payload !== undefined && { body: payload as string }),
    })
    const text = await response.text()
    const type = response.headers.get('content-type') ?? ''
    const body = (type.includes('json') && text !== '' ? parseJson(text) : text) as T
    check(method, path, response.status, type, body)
    return { status: response.status, headers: response.headers, body }
  }
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= platform.close()
    return closed
  }
  const restart = async (more: Readonly<Record<string, string>> = {}) => {
    await close()
    return startPlatform({ ...start, data_dir, env: { ...start.env, ...more } })
  }
  return { url, api_key, operator_token, data_dir, env, call, close, restart }
}

async function databaseOf({ database_url, data_dir }: Start): Promise<string | null> {
  if (database_url !== undefined || data_dir !== undefined) return database_url ?? null
  return (await sharedPostgres())?.freshDatabase() ?? null
}

/** Closes the platform and removes its data. */
export async function discard(platform: TestPlatform): Promise<void> {
  await platform.close()
  rmSync(platform.data_dir, { recursive: true, force: true })
}

type Paths = Record<
  string,
  Record<string, { responses: Record<string, { content?: Record<string, { schema: { $ref?: string } }> }> }>
>

/** Throws for an answer that does not match /openapi.json. */
async function responseChecker(url: string) {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Paths }
  const checker = createChecker(Object.values(documents))
  const patterns = Object.entries(paths)
    .map(([path, operations]) => ({
      operations,
      literal: !path.includes('{'),
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }))
    .sort((a, b) => Number(b.literal) - Number(a.literal))
  return (method: string, path: string, status: number, type: string, body: unknown) => {
    const found = patterns.find(({ pattern }) => pattern.test(path.split('?')[0] ?? ''))
    const responses = found?.operations[method.toLowerCase()]?.responses
    if (status >= 400 && found?.operations[method.toLowerCase()]?.responses[status] === undefined) {
      expectSchema(checker, 'problem', body, `${method} ${path} ${status} ${type}`)
      return
    }
    if (responses === undefined) return
    const described = responses[status]
    if (described === undefined)
      throw new Error(`${method} ${path} answered ${status}, which /openapi.json does not describe`)
    const { content = {} } = described
    const reference = (content[type.split(';')[0] ?? ''] ?? content['application/json'])?.schema.$ref?.split('/').at(-1)
    if (reference !== undefined) expectSchema(checker, reference, body, `${method} ${path} ${status}`)
  }
}

function expectSchema(checker: ReturnType<typeof createChecker>, name: string, body: unknown, what: string): void {
  const problems = checker(`${name}.json`)(body)
  if (problems.length > 0)
    throw new Error(`${what}: not a \`${name}\`: ${JSON.stringify(problems)} in ${JSON.stringify(body)?.slice(0, 500)}`)
}

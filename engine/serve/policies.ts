// The policy source of `svc serve`: the baseline, files, or a platform.
import { join } from 'node:path'
import { versionOf } from '@svc/schemas'
import type { FileSources } from '../source/file.js'
import type { PolicySource } from '../source/source.js'
import type { ServeOptions } from './options.js'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Policies {
  readonly source: PolicySource
  /** Stops fetching and sending heartbeats. */
  readonly close: () => Promise<void>
}

/** The engine that the policies are for. */
export interface EngineOfPolicies {
  readonly instance_id: string
  readonly fail_closed: boolean
  readonly report: (line: string) => void
}

/** Command-line options take precedence over the platform that the environment names. */
export async function policiesOf(options: ServeOptions, env: Environment, engine: EngineOfPolicies) {
  const { baseline, policyFile: paths, agentKey } = options
  const { report, fail_closed } = engine
  if (baseline !== true && paths.length === 0) return policiesOfPlatform(agentKey, env, engine)
  if (platformIn(env, agentKey).named) report('SVC_API_URL is set, but the policies named on the command line are used')
  const sources = { baseline: baseline === true, paths, agent_key: agentKey ?? null, fail_closed }
  const source = await sourceOfFiles(sources, report)
  return { source, close: source.close }
}

async function sourceOfFiles(sources: FileSources, report: (line: string) => void): Promise<PolicySource> {
  const { paths, agent_key } = sources
  if (paths.length === 0) return (await import('../source/baseline.js')).baselineSource(agent_key, Date.now)
  const { fileSource } = await import('../source/file.js')
  return fileSource(sources, Date.now, report)
}

async function policiesOfPlatform(
  agentKey: string | undefined,
  env: Environment,
  { instance_id, fail_closed, report }: EngineOfPolicies,
): Promise<Policies> {
  const { apiSource } = await import('../source/api.js')
  const { cachePath, policyCache } = await import('../source/cache.js')
  const { startHeartbeats } = await import('../source/heartbeat.js')
  const { intervalSpool } = await import('../source/intervals.js')
  const { SVC_API_URL: url = '', SVC_API_KEY: api_key = '', SVC_AGENT_KEY: named = '' } = env
  const address = { url, api_key, agent_key: agentKey ?? named }
  const folder = env.SVC_CACHE_DIR || join(env.SVC_DATA_DIR || 'data', 'cache')
  const cache = policyCache(folder, url, address.agent_key, report)
  const seconds = Number(env.SVC_POLICY_TTL_SECONDS)
  const ttl = seconds > 0 ? seconds * 1000 : null
  const clock = Date.now
  const source = await apiSource({ ...address, cache, ttl, clock, random: Math.random, fail_closed, report })
  const spool = intervalSpool(cachePath(folder, 'states', url, address.agent_key), report)
  const heartbeats = startHeartbeats({
    ...address,
    source,
    spool,
    instance_id,
    version: versionOf('engine'),
    clock,
    elapsed: () => performance.now(),
    report,
  })
  const close = async () => {
    await heartbeats.close()
    await source.close()
  }
  return { source, close }
}

/** Tells if the environment names a platform, and the missing ones of its variables. */
export function platformIn(env: Environment, agentKey: string | undefined) {
  const needed = ['SVC_API_URL', 'SVC_API_KEY', ...(agentKey === undefined ? ['SVC_AGENT_KEY'] : [])]
  return { named: Boolean(env.SVC_API_URL || env.SVC_API_KEY), missing: needed.filter((name) => !env[name]) }
}

// Starting and stopping `svc serve` for a person.
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Writable } from 'node:stream'
import type { ServeOptions } from '../cli/serve.js'
import { loadFiles } from '../source/file.js'
import { type LoadedPolicies, ungovernedLine } from '../source/source.js'
import { openSink } from '../trace/choose.js'
import type { Sink } from '../trace/sink.js'
import { createEngine } from './engine.js'
import { createLocalServer, type LocalServer } from './server.js'
import { createTasks } from './tasks.js'

type Environment = Readonly<Record<string, string | undefined>>

/** Histories kept: this many tasks, none older than a day (engine.md §7). */
const limits = { most: 10_000, oldest: 24 * 3600 * 1000 }

/** Runs until told to stop; returns the exit code. */
export async function runServe(options: ServeOptions, env: Environment, out: Writable, err: Writable): Promise<number> {
  const refusal = refusalOf(options, env)
  if (refusal !== null) {
    err.write(`svc serve: ${refusal}\n`)
    return 1
  }
  try {
    const sources = {
      baseline: options.baseline === true,
      paths: options.policyFile,
      agent_key: options.agentKey ?? null,
    }
    const policies = loadFiles(sources, Date.now())
    const sink = openSink(options.logLocation, env, out, (line) => err.write(`svc serve: ${line}\n`))
    const { server, warmUp } = assemble(policies, sink, err)
    await listen(server, options.port, options.host)
    announce(server, policies, sink.on_stdout ? err : out, err)
    setImmediate(warmUp)
    await untilToldToStop()
    await stop(server, sink)
    return 0
  } catch (error) {
    err.write(`svc serve: ${explain(error, options)}\n`)
    return 1
  }
}

function refusalOf({ baseline, policyFile, host }: ServeOptions, env: Environment): string | null {
  if (baseline !== true && policyFile.length === 0) {
    const platform = ['SVC_API_URL', 'SVC_API_KEY', 'SVC_AGENT_KEY']
    const set = platform.filter((name) => env[name])
    const said = set.length === 0 ? '' : `${set.join(' and ')} ${set.length === 1 ? 'is' : 'are'} set, but `
    return `no policy source: give --baseline for the bundled baseline, or --policy-file PATH for your own manifests (${said}this version cannot fetch from a platform, which ${platform.join(', ')} would name)`
  }
  if (!/^(127(\.\d{1,3}){3}|::1|localhost)$/.test(host)) {
    return `--host \`${host}\` can be reached from other machines: binding beyond loopback needs a token, which this version does not have; use 127.0.0.1`
  }
  return null
}

function assemble(policies: LoadedPolicies, sink: Sink, err: Writable): LocalServer {
  const parts = { policies, sink, clock: Date.now, newId: () => randomUUID(), tasks: createTasks(policies.set, limits) }
  const report = (error: unknown) => err.write(`svc serve: ${error instanceof Error ? error.stack : String(error)}\n`)
  return createLocalServer({ ...parts, engine: createEngine(parts), instance_id: randomUUID(), report })
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
}

function announce(server: Server, policies: LoadedPolicies, out: Writable, err: Writable): void {
  const { address, port, family } = server.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  const { set, load_state, dropped } = policies
  out.write(
    `svc serve: ${load_state}, ${set.count} of ${policies.offered} policies in effect, at ${url}\n${trial(url)}`,
  )
  for (const { name, reason, source, line, column } of dropped) {
    const place = line === null ? source : `${source}:${line}:${column}`
    err.write(`svc serve: dropped \`${name}\` (${place}): ${reason}\n`)
  }
  const ungoverned = ungovernedLine(policies)
  if (ungoverned !== null) err.write(`${ungoverned}\n`)
}

/** A request to copy, for whoever has just started this. */
function trial(url: string): string {
  const intended = { step_type: 'step.exec', properties: { exec: { command: 'make' } } }
  const context = { agent_id: 'me', task_id: 'try', environment: 'development', risk_classification: 'limited' }
  return `try: curl -s ${url}/evaluate -H 'Content-Type: application/json' -d '${JSON.stringify({ intended, context })}'\n`
}

function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
}

/** How long a request under way may keep the engine from stopping, ms. */
const grace = 5_000

/** Stops accepting, answers what has been accepted, and sees the trace to disk. */
async function stop(server: Server, sink: Sink): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  const enough = setTimeout(() => server.closeAllConnections(), grace)
  await closed
  clearTimeout(enough)
  await sink.close()
}

function explain(error: unknown, { port }: ServeOptions): string {
  const { code, message, path } = error as { code?: string; message?: string; path?: string }
  if (code === 'EADDRINUSE') return `port ${port} is taken: give another with --port`
  if (code === 'ENOENT') return `\`${path}\` does not exist`
  return message ?? String(error)
}

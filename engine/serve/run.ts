// Starts and stops `svc serve`.
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Writable } from 'node:stream'
import { printable } from '@svc/proof'
import { unknownVariables } from '../environment.js'
import { changeLines, droppedWords } from '../source/changes.js'
import type { LoadedPolicies } from '../source/source.js'
import { untilStopped } from '../stop-signal.js'
import { type LastSteps, lastStepsInProcess, openLastSteps } from '../trace/memory/last-steps.js'
import { logProblem, openMemoryStore, openSink, reportOtherSpools } from '../trace/sinks/choose.js'
import { incidentProblem, withIncidents } from '../trace/sinks/incidents.js'
import {
  addressIn,
  keyProblem,
  type LogSettings,
  lastingFolder,
  logLocation,
  shownLocation,
} from '../trace/sinks/settings.js'
import type { Sink } from '../trace/sinks/sink.js'
import { createAccess } from './access.js'
import { createDecisions, type Decisions } from './decisions/decisions.js'
import { openDecisionFile } from './decisions/file.js'
import { createEngine, type EngineParts } from './engine.js'
import { traceHealth } from './health.js'
import { createMemory } from './memory.js'
import { createMeter } from './metrics.js'
import type { ServeOptions } from './options.js'
import { type Environment, platformIn, policiesOf } from './policies.js'
import { createLocalServer, type LocalServer, type ServerParts } from './server.js'

export type { ServeOptions } from './options.js'

/** Runs until SIGTERM or SIGINT; returns the exit code. */
export async function runServe(options: ServeOptions, env: Environment, out: Writable, err: Writable): Promise<number> {
  for (const warning of unknownVariables(env)) err.write(`svc serve: warning: ${warning}\n`)
  const settings = settingsOf(options, env)
  const log = logSettings(options, env)
  const problem = problemOf(options, settings, env) ?? logProblem(log) ?? incidentProblem(options, env)
  if (problem !== null) {
    err.write(`svc serve: ${problem}\n`)
    return 1
  }
  try {
    const report = (line: string) => err.write(`svc serve: ${printable(line)}\n`)
    const instance_id = randomUUID()
    const { source, close } = await policiesOf(options, env, { instance_id, fail_closed: settings.fail_closed, report })
    if (options.strict === true && source.current().dropped.length > 0) {
      for (const line of changeLines(null, source.current(), settings.fail_closed)) report(line)
      await close()
      report('a policy was dropped, so the engine does not start with --strict')
      return 1
    }
    const sink = withIncidents(openSink(log, out, report), options, env, out, report)
    const memory = createMemory(openMemoryStore(log, report), report)
    const trace = () => traceHealth(shownLocation(logLocation(log)), sink)
    const decisions = watchDecisions(log, settings, sink, err)
    const last_steps = rememberSteps(log, sink, report)
    const opened = { source, sink, memory, trace, decisions, last_steps }
    const { server, warmUp } = assemble(opened, settings, instance_id, err)
    await listen(server, options.port, options.host)
    announce(server, source.current(), settings, sink.on_stdout ? err : out, err)
    setImmediate(warmUp)
    reportOtherSpools(log, report)
    const watch = setInterval(() => {
      decisions.check()
      saveAll(decisions)
      void last_steps.save()
    }, watchMs)
    await untilStopped(env)
    clearInterval(watch)
    await stop(server, sink, decisions, last_steps)
    await close()
    return 0
  } catch (error) {
    err.write(`svc serve: ${explain(error, options)}\n`)
    return 1
  }
}

function logSettings(options: ServeOptions, env: Environment): LogSettings {
  const { logLocation, logFormat, agentKey, baseline, policyFile } = options
  return { logLocation, logFormat, agentKey, from_platform: baseline !== true && policyFile.length === 0, env }
}

interface Settings {
  readonly host: string
  /** The token that callers must send; null on a loopback address, which needs none. */
  readonly token: string | null
  readonly fail_closed: boolean
  /** The longest time that the step of a decision may take, in seconds; 0 for any time, NaN for an invalid value. */
  readonly record_seconds: number
  /** The same for the answer to a question. */
  readonly ask_seconds: number
}

function settingsOf({ host, token, failClosed }: ServeOptions, env: Environment): Settings {
  const given = token ?? env.SVC_LOCAL_TOKEN
  return {
    host,
    token: given ? given : null,
    fail_closed: failClosed === true || isYes(env.SVC_FAIL_CLOSED),
    record_seconds: secondsIn(env.SVC_RECORD_TIMEOUT_SECONDS, 600),
    ask_seconds: secondsIn(env.SVC_ASK_TIMEOUT_SECONDS, 7 * 24 * 3600),
  }
}

function secondsIn(text = '', unset: number): number {
  const seconds = text.trim()
  if (seconds === '') return unset
  return /^\d{1,8}(\.\d+)?$/.test(seconds) ? Number(seconds) : Number.NaN
}

/** In ms; no limit for 0. */
function timeoutOf(seconds: number): number {
  return seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000
}

/** The interval at which decisions are looked at, ms: a crash forgets at most those of the last second. */
const watchMs = 500

function watchDecisions(
  log: LogSettings,
  { record_seconds, ask_seconds }: Settings,
  sink: Sink,
  err: Writable,
): Decisions {
  const folder = lastingFolder(log)
  const report = (line: string) => void err.write(`svc serve: ${printable(line)}\n`)
  return createDecisions({
    timeout: timeoutOf(record_seconds),
    ask_timeout: timeoutOf(ask_seconds),
    clock: Date.now,
    elapsed,
    write: sink.write,
    notify: (line) => void err.write(`${line}\n`),
    file: folder === null || record_seconds === 0 ? null : openDecisionFile(folder, report),
  })
}

function rememberSteps(log: LogSettings, sink: Sink, report: (line: string) => void): LastSteps {
  const folder = lastingFolder(log)
  return folder === null ? lastStepsInProcess() : openLastSteps(folder, sink.settled, report)
}

/** The time of the machine may be set; this never jumps. ms */
function elapsed(): number {
  return performance.now()
}

/** In parts: requests are answered in between. */
function saveAll(decisions: Decisions): void {
  if (decisions.save()) setImmediate(saveAll, decisions)
}

const yes = ['1', 'true']
const no = ['', '0', 'false']

function isYes(text = ''): boolean {
  return yes.includes(text.toLowerCase())
}

function secondsProblem(name: 'SVC_RECORD_TIMEOUT_SECONDS' | 'SVC_ASK_TIMEOUT_SECONDS', env: Environment): string {
  return `${name} must be a number of seconds, or 0 for no limit, found \`${env[name]}\``
}

/** A shorter token can be guessed. */
const minTokenLength = 16

/** The problem with the options; null when they can be used. */
function problemOf(
  { baseline, policyFile, agentKey }: ServeOptions,
  { host, token, record_seconds, ask_seconds }: Settings,
  env: Environment,
): string | null {
  if (baseline !== true && policyFile.length === 0) {
    const { missing, named } = platformIn(env, agentKey)
    if (named && missing.length > 0)
      return `no policy source: for a platform ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`
    const { SVC_API_URL: url = '' } = env
    if (named && (!/^https?:\/\/[^/]/.test(url) || addressIn(url) === null))
      return 'SVC_API_URL is not an http(s) address without a user name'
    if (named && keyProblem(env) !== null) return keyProblem(env)
    if (!named)
      return 'no policy source: give --baseline for the bundled baseline, --policy-file PATH for your own manifests, or set SVC_API_URL, SVC_API_KEY and SVC_AGENT_KEY for a platform'
  }
  if (token === null && !/^(127(\.\d{1,3}){3}|::1|localhost)$/.test(host)) {
    return `--host \`${host}\` can be reached from other machines: give a secret of at least ${minTokenLength} characters with --token or SVC_LOCAL_TOKEN, or use 127.0.0.1`
  }
  const { SVC_FAIL_CLOSED: closed = '' } = env
  if (!isYes(closed) && !no.includes(closed.toLowerCase())) return `SVC_FAIL_CLOSED must be 1 or 0, found \`${closed}\``
  if (Number.isNaN(record_seconds)) return secondsProblem('SVC_RECORD_TIMEOUT_SECONDS', env)
  if (Number.isNaN(ask_seconds)) return secondsProblem('SVC_ASK_TIMEOUT_SECONDS', env)
  if (token !== null && token.length < minTokenLength)
    return `the token must have at least ${minTokenLength} characters`
  return null
}

function assemble(
  opened: Pick<EngineParts, 'source' | 'sink' | 'memory' | 'decisions' | 'last_steps'> & Pick<ServerParts, 'trace'>,
  settings: Settings,
  instance_id: string,
  err: Writable,
): LocalServer {
  const { host, token, fail_closed } = settings
  const notify = (line: string) => err.write(`${line}\n`)
  const parts = {
    ...opened,
    fail_closed,
    clock: Date.now,
    elapsed,
    newId: () => randomUUID(),
    meter: createMeter(),
    notify,
  }
  const report = (error: unknown) => err.write(`svc serve: ${error instanceof Error ? error.stack : String(error)}\n`)
  const access = createAccess(host, token)
  return createLocalServer({ ...parts, engine: createEngine(parts), access, instance_id, report })
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
}

function announce(
  server: Server,
  policies: LoadedPolicies,
  { fail_closed }: Settings,
  out: Writable,
  err: Writable,
): void {
  const { address, port, family } = server.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  const { set, load_state } = policies
  out.write(
    `svc serve: ${load_state}, ${set.count} of ${policies.offered} policies in effect${droppedWords(policies)}, at ${url}\n${example(url, policies)}`,
  )
  for (const line of changeLines(null, policies, fail_closed)) err.write(`svc serve: ${printable(line)}\n`)
}

/** A request to copy and try. */
function example(url: string, { agent }: LoadedPolicies): string {
  const intended = { step_type: 'step.exec', properties: { exec: { command: 'make' } } }
  const { agent_key = 'me' } = agent ?? {}
  const context = { agent_id: agent_key, task_id: 'try', environment: 'development', risk_classification: 'limited' }
  return `try: curl -s ${url}/evaluate -H 'Content-Type: application/json' -d '${JSON.stringify({ intended, context })}'\n`
}

/** The longest delay of the stop by a running request. */
const stopTimeoutMs = 5_000

/** Stops accepting requests, answers the running ones, and writes the trace to disk. */
async function stop(server: Server, sink: Sink, decisions: Decisions, last_steps: LastSteps): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  const timer = setTimeout(() => server.closeAllConnections(), stopTimeoutMs)
  await closed
  clearTimeout(timer)
  decisions.close()
  try {
    await sink.close()
  } finally {
    last_steps.close()
  }
}

function explain(error: unknown, { port }: ServeOptions): string {
  const { code, message, path } = error as { code?: string; message?: string; path?: string }
  if (code === 'EADDRINUSE') return `port ${port} is in use: choose another with --port`
  if (code === 'ENOENT') return `\`${path}\` does not exist`
  return message ?? String(error)
}

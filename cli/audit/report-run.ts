// Gets a report: requests it, waits for it, downloads it, and compares the file with the SHA-256 that the log holds.
import { createHash } from 'node:crypto'
import { createReadStream, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'
import type { LogCheckpoint, Report, ReportRequest } from '@svc/schemas'
import type { Client } from '../account/client.js'
import type { Output } from '../account/subcommand.js'
import { endOption, timeOption } from '../account/time-option.js'
import { shellWord } from '../called-as.js'
import { UsageError } from '../errors.js'
import { assertFolder, fileNameOf, isOfPeriod, type ReportOptions } from './report-options.js'
import { openProgress, type ReportProgress } from './report-progress.js'

const dayMs = 86_400_000
const defaultDays = 30
/** The longest time for which entries of the period may remain unsigned, and other reports in progress. */
const maxWaitMs = 300_000
const interruptions = ['SIGINT', 'SIGTERM'] as const
/** The longest time for which the entry with the SHA-256 may remain unsigned: checkpoints are published every ten seconds. */
const maxUnsignedMs = 30_000
/** The longest pause between two calls, s: the platform may ask for more. */
const maxPauseSeconds = 60

/** Rejects when the report fails, or its file is not the issued one. */
export async function getReport(client: Client, options: ReportOptions): Promise<Output> {
  const { id, out } = options
  if (out !== undefined) assertFolder(out)
  const path = id === undefined ? null : pathOf(id, options)
  const progress = openProgress(client.stderr)
  try {
    const report =
      path === null
        ? await requested(client, await withAgents(client, requestOf(options)), progress)
        : await client.get<Report>(path)
    const file = out ?? fileNameOf(report)
    const ready = await finished(client, report, file, progress)
    progress.close()
    await client.save(`/api/v1/reports/${ready.id}/download`, file)
    await assertIssued(ready, file)
    const isSigned = await whenSigned(client, ready, progress)
    return { lines: linesOf(client, ready, file, isSigned), json: { file, report: ready } }
  } finally {
    progress.close()
  }
}

function pathOf(id: string, options: ReportOptions): string {
  if (options.format !== undefined || isOfPeriod(options))
    throw new UsageError(
      'give either `--id` or a period: a report that was requested has its period, times, format and agents',
    )
  if (/^rep_[0-9a-f]{32}$/.test(id)) return `/api/v1/reports/${id}`
  throw new UsageError(`\`--id\` is \`${id}\`: write the id of a report, which \`svc reports\` lists`)
}

function requestOf({ from, to, by, format = 'pdf', cutOff, agents }: ReportOptions): ReportRequest {
  if (cutOff !== undefined && !/^[1-9]\d{0,14}$/.test(cutOff))
    throw new UsageError(`\`--cut-off\` is \`${cutOff}\`: write the size of a published checkpoint, a number`)
  const now = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString()
  const end = endOption('--to', to) ?? now
  // The platform ends a period in the future now.
  const last = Math.min(Date.parse(end), Date.parse(now))
  return {
    from: timeOption('--from', from) ?? new Date(last - defaultDays * dayMs).toISOString(),
    to: end,
    format: format as Report['format'],
    ...(by !== undefined && { by: by as Report['by'] }),
    ...(agents.length > 0 && { agent_ids: [...agents] }),
    ...(cutOff !== undefined && { cut_off: Number(cutOff) }),
  }
}

/** Agents by id or by key: an auditor knows their names. */
async function withAgents(client: Client, request: ReportRequest): Promise<ReportRequest> {
  const { agent_ids } = request
  if (agent_ids === undefined || agent_ids === null) return request
  const { agentOf } = await import('../account/agent-names.js')
  const ids: string[] = []
  for (const wanted of agent_ids) ids.push((await agentOf(client, wanted)).agent_id)
  return { ...request, agent_ids: [...new Set(ids)] }
}

/** Repeats the request while the platform asks for it: entries are not signed yet, or other reports are in progress. */
async function requested(client: Client, request: ReportRequest, progress: ReportProgress): Promise<Report> {
  const ends_at = Date.now() + maxWaitMs
  for (;;) {
    const { body, error, retry_seconds } = await client.attempt<Report>('/api/v1/reports', request)
    if (error === null) return body
    if (retry_seconds === null || Date.now() > ends_at) throw error
    progress.wait(error.message)
    await pause(retry_seconds)
  }
}

/** The report once it is ready. An interrupted wait names the command that continues it. */
async function finished(client: Client, first: Report, file: string, progress: ReportProgress): Promise<Report> {
  const { svc } = client
  const later = `\`${svc} report --id ${first.id} --out ${shellWord(file)}\` gets it later`
  const interrupted = (signal: NodeJS.Signals) => {
    progress.close()
    client.stderr.write(`svc: the platform continues the report: ${later}\n`)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  for (const signal of interruptions) process.once(signal, interrupted)
  try {
    return await whenReady(client, first, progress)
  } catch (error) {
    if (error instanceof ReportFailed) throw error
    throw new Error(`${error instanceof Error ? error.message : String(error)}; ${later}`, { cause: error })
  } finally {
    for (const signal of interruptions) process.off(signal, interrupted)
  }
}

async function whenReady(client: Client, first: Report, progress: ReportProgress): Promise<Report> {
  let report = first
  while (report.status !== 'ready') {
    if (report.status === 'failed') throw new ReportFailed(`the report failed: ${report.error ?? 'no reason is known'}`)
    progress.show(report)
    await pause(1)
    const answer = await client.attempt<Report>(`/api/v1/reports/${report.id}`)
    if (answer.error === null) report = answer.body
    else if (answer.status === 404) throw new ReportFailed('the report was deleted meanwhile')
    else if (answer.retry_seconds === null) throw answer.error
    else await pause(answer.retry_seconds)
  }
  return report
}

/** There is nothing to get later. */
class ReportFailed extends Error {
  readonly code = 'REPORT_FAILED'
}

function pause(seconds: number): Promise<void> {
  return setTimeout(1000 * Math.min(maxPauseSeconds, Math.max(1, seconds)))
}

/** Removes a file that is not the issued one, and rejects. */
async function assertIssued({ sha256 }: Report, file: string): Promise<void> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  const found = hash.digest('hex')
  if (found === sha256) return
  rmSync(file, { force: true })
  throw new Error(
    `the downloaded file is not the issued report, and was removed: its SHA-256 is ${found}, the report names ${sha256}`,
  )
}

/** Waits for the checkpoint that the printed commands need; false when there is none soon. */
async function whenSigned(client: Client, { log_index }: Report, progress: ReportProgress): Promise<boolean> {
  const ends_at = Date.now() + maxUnsignedMs
  for (;;) {
    const { body } = await client.attempt<LogCheckpoint>('/api/v1/log/checkpoint')
    if (body !== null && log_index !== null && body.size > log_index) return true
    if (Date.now() > ends_at) return false
    progress.wait(`entry ${log_index} is not signed yet`)
    await pause(1)
  }
}

function linesOf({ svc, workspace }: Client, report: Report, file: string, isSigned: boolean): string[] {
  const { id, from, to, by, cut_off, sha256, log_index } = report
  const times = by === 'occurred' ? ', by the times that senders state' : ''
  const bundle = `${file.replace(/\.(pdf|xml|json)$/, '')}.zip`
  const get = `${svc} bundle --report ${id} --out ${shellWord(bundle)}`
  const verify = `${svc} verify ${shellWord(bundle)} --trust trust.policy --report ${shellWord(file)}`
  return [
    `${file}: ${workspace().name}, ${from} to ${to}${times}, as of ${cut_off} entries of the log`,
    `its SHA-256 is ${sha256}, which entry ${log_index} of the log holds`,
    `verify it${isSigned ? '' : ', when that entry is signed,'} with \`${get}\` and \`${verify}\``,
  ]
}

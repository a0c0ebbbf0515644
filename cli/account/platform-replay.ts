// `svc replay --platform`: the platform replays its recorded tasks of a period, as a dry run.
import { type Cause, type Listed, neverApplied, type ReplayResult } from '@svc/engine/parts'
import { type DryRunManifest, type DryRunReport, type DryRunRequest, isoTime } from '@svc/schemas'
import { baselineWord, type ReadManifest } from '../manifests/replay/input.js'
import type { ReplayReport } from '../manifests/replay/report.js'
import type { ReplayCommandOptions } from '../manifests/replay/run.js'
import type { Terminal } from '../terminal.js'
import { agentOf } from './agent-names.js'
import { openClient } from './client.js'
import { endOption, timeOption } from './time-option.js'

/** A dry run of the most steps took a few seconds; other work of the platform can delay it. */
const timeoutMs = 120_000
const defaultMs = 30 * 86_400_000

/** Rejects for options that are not valid, without a session, and when the platform does not answer. */
export async function replayOnPlatform(
  manifests: readonly ReadManifest[],
  against: readonly ReadManifest[] | null,
  options: ReplayCommandOptions,
  terminal: Terminal,
): Promise<ReplayReport> {
  const to = endOption('--to', options.to) ?? isoTime(Date.now())
  const from = timeOption('--from', options.from) ?? isoTime(Date.parse(to) - defaultMs)
  const client = await openClient(terminal)
  const agent = options.agent === undefined ? null : await agentOf(client, options.agent)
  const request: DryRunRequest = {
    manifests: manifests.map(sent) as [DryRunManifest, ...DryRunManifest[]],
    ...(against !== null && { against: against.map(sent) as [DryRunManifest, ...DryRunManifest[]] }),
    from,
    to,
    ...(agent !== null && { agent_id: agent.agent_id }),
  }
  const answer = await client.post<DryRunReport>('/api/v1/policies/dry-run', request, timeoutMs)
  const result = resultOf(answer, options.limit)
  const files = new Set(manifests.map(({ file }) => file))
  const place = `${client.workspace().name}, from ${from} to ${to}`
  return {
    result,
    findings: neverApplied(result).filter(({ file }) => files.has(file)),
    unreadable: [],
    manifests: manifests.map(({ file }) => file),
    against: against?.map(({ file }) => file) ?? null,
    recorded: {
      of: agent === null ? place : `${place}, agent ${agent.agent_key}`,
      from,
      to,
      answer,
      is_cut: answer.left_out.some(({ reason }) => reason === 'too_many'),
    },
    agent: null,
    svc: terminal.svc,
  }
}

function sent({ file, text }: ReadManifest): DryRunManifest {
  return { manifest: text, file }
}

/** The result as of traces, with at most `limit` steps of each list. */
function resultOf(answer: DryRunReport, limit: number): ReplayResult {
  const nothing = { total: 0, listed: [] }
  const placed = <T extends { readonly policies: readonly Cause[] }>({ total, listed }: Listed<T>) => ({
    total,
    listed: listed.slice(0, limit).map((one) => ({ ...one, source: null, policies: one.policies.map(withLine) })),
  })
  return {
    ...answer,
    policies: answer.policies.map(withLine),
    unreadable_lines: 0,
    history_lost: nothing,
    skipped_tasks: nothing,
    first_blocks: placed(answer.first_blocks),
    flips: placed(answer.flips),
  }
}

/** The bundled baseline has no lines: its text was made for the request. */
function withLine<T extends { readonly manifest: string | null; readonly line: number | null }>(one: T): T {
  return one.manifest === baselineWord ? { ...one, line: null } : one
}

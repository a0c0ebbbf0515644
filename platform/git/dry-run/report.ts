// The answer of a dry run: the result of a replay, by tasks and agents in place of files.
import type { Finding, Listed, ReplayResult, StepPlace } from '@svc/engine/parts'
import type { DryRunReport } from '@svc/schemas'

/** `agents` are the agents by task; `left_out` the numbers of tasks by reason. */
export function dryRunReport(
  result: ReplayResult,
  agents: ReadonlyMap<string, string>,
  left_out: ReadonlyMap<DryRunReport['left_out'][number]['reason'], number>,
  warnings: readonly Finding[],
): DryRunReport {
  const {
    // Those of traces in files.
    unreadable_lines: _unreadable,
    history_lost: _lost,
    skipped_tasks: _skipped,
    ...counts
  } = result
  const placed = <T extends StepPlace>({ total, listed }: Listed<T>) => ({
    total,
    listed: listed.map(({ source: _, ...place }) => ({ ...place, agent_id: agents.get(place.task_id) ?? '' })),
  })
  return {
    ...counts,
    rejected: result.rejected.map(({ name, reason }) => ({ name, reason })),
    left_out: [...left_out].map(([reason, tasks]) => ({ reason, tasks })),
    first_blocks: placed(result.first_blocks),
    flips: placed(result.flips),
    findings: [...warnings],
  } as DryRunReport
}

// Metrics of the jobs. Names of queues are those of the jobs that this process lists.
import type { Metric, Sample } from '../http/exposition.js'
import type { Runs } from './worker.js'

/** Waiting jobs are those of all processes together, runs those of this process. */
export function queueMetrics(
  names: readonly string[],
  waiting: ReadonlyMap<string, number>,
  runsOf: (name: string) => Runs | undefined,
): Metric[] {
  const samples = (count: (name: string) => number): Sample[] =>
    names.map((queue) => ({ labels: { queue }, value: count(queue) }))
  const ended = (['completed', 'failed'] as const).flatMap((result) =>
    names.map((queue) => ({ labels: { queue, result }, value: runsOf(queue)?.[result] ?? 0 })),
  )
  return [
    {
      name: 'svc_jobs_waiting',
      type: 'gauge',
      help: 'Jobs that wait in a queue, up to 10000, of all processes.',
      samples: samples((name) => waiting.get(name) ?? 0),
    },
    {
      name: 'svc_jobs_active',
      type: 'gauge',
      help: 'Jobs that this process runs.',
      samples: samples((name) => runsOf(name)?.active ?? 0),
    },
    { name: 'svc_job_runs_total', type: 'counter', help: 'Ended runs of jobs in this process.', samples: ended },
  ]
}

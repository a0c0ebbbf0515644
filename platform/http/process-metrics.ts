// Metrics of this process: memory, processor, event loop, connections to the database.
import type { Database } from '../db/db.js'
import { counter, createHistogram, gauge, type Metric } from './exposition.js'

export interface ProcessMeter {
  readonly metrics: () => Metric[]
}

/** The time between two probes of the event loop, ms. */
const probeMs = 500
/** Upper bounds of the delay of a timer in seconds. */
const lagBounds = [0.005, 0.02, 0.05, 0.1, 0.25, 1, 5]

/** Measures until the signal is aborted; `started_at` in ms since 1970. */
export function startProcessMeter(db: Database, started_at: number, stopping: AbortSignal): ProcessMeter {
  // A histogram that only grows: a maximum since the last scrape would be halved by a second scraper.
  const lag = createHistogram(lagBounds)
  let expected = performance.now() + probeMs
  const timer = setInterval(() => {
    const now = performance.now()
    lag.observe(Math.max(0, now - expected) / 1000)
    expected = now + probeMs
  }, probeMs)
  timer.unref()
  stopping.addEventListener('abort', () => clearInterval(timer), { once: true })
  const metrics = (): Metric[] => {
    const { rss, heapUsed } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    return [
      gauge('process_start_time_seconds', 'Start of the process, in seconds since 1970.', started_at / 1000),
      gauge('process_resident_memory_bytes', 'Resident memory.', rss),
      gauge('svc_heap_used_bytes', 'Memory that JavaScript uses.', heapUsed),
      counter('process_cpu_seconds_total', 'Processor time of the process.', (user + system) / 1e6),
      {
        name: 'svc_event_loop_lag_seconds',
        type: 'histogram',
        help: 'How late a timer ran.',
        samples: lag.samples(),
      },
      ...databaseMetrics(db),
      ...eventMetrics(db),
    ]
  }
  return { metrics }
}

function databaseMetrics({ connections }: Database): Metric[] {
  const { used, idle, waiting } = connections()
  return [
    {
      name: 'svc_database_connections',
      type: 'gauge',
      help: 'Connections of the pool by state.',
      samples: [
        { labels: { state: 'used' }, value: used },
        { labels: { state: 'idle' }, value: idle },
      ],
    },
    gauge('svc_database_waiting_transactions', 'Transactions that wait for a connection.', waiting),
  ]
}

/** Kinds of events are few, and so are severities. */
function eventMetrics({ counts }: Database): Metric[] {
  const samples = [...counts].map(([name, value]) => {
    const [kind = '', severity] = name.split(' ')
    return { labels: { kind, ...(severity !== undefined && { severity }) }, value }
  })
  const help = 'Committed events of the audit trail by kind; opened incidents also by severity.'
  return [{ name: 'svc_events_total', type: 'counter', help, samples }]
}

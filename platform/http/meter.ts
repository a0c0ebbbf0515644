// Counters of this process as Prometheus reads them (text exposition format 0.0.4), without names of tenants.

export interface Meter {
  readonly answered: (status: number) => void
  /** Counts a commit of this many entries to the log. */
  readonly committed: (entries: number) => void
  readonly text: (process: ProcessState) => string
}

interface ProcessState {
  readonly uptime_seconds: number
  /** Bytes. */
  readonly rss: number
}

/** Upper bounds of the histogram of entries per commit, up to the largest batch. */
const bounds = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const classes = ['1xx', '2xx', '3xx', '4xx', '5xx']

export function createMeter(): Meter {
  const answers = classes.map(() => 0)
  const buckets = bounds.map(() => 0)
  const commits = { count: 0, entries: 0 }
  return {
    answered: (status) => {
      const index = Math.floor(status / 100) - 1
      answers[index] = (answers[index] ?? 0) + 1
    },
    committed: (entries) => {
      commits.count += 1
      commits.entries += entries
      for (const [index, bound] of bounds.entries()) if (entries <= bound) buckets[index] = (buckets[index] ?? 0) + 1
    },
    text: ({ uptime_seconds, rss }) =>
      [
        ...metric('svc_uptime_seconds', 'gauge', 'Seconds since the start.', [['', uptime_seconds]]),
        ...metric('process_resident_memory_bytes', 'gauge', 'Resident memory.', [['', rss]]),
        ...metric(
          'svc_http_requests_total',
          'counter',
          'Answered requests by status class.',
          classes.map((name, index) => [`{status="${name}"}`, answers[index] ?? 0]),
        ),
        ...metric('svc_log_entries_total', 'counter', 'Log entries written.', [['', commits.entries]]),
        ...metric('svc_log_commit_entries', 'histogram', 'Log entries of one commit.', [
          ...bounds.map((bound, index): Row => [`_bucket{le="${bound}"}`, buckets[index] ?? 0]),
          ['_bucket{le="+Inf"}', commits.count],
          ['_sum', commits.entries],
          ['_count', commits.count],
        ]),
        '',
      ].join('\n'),
  }
}

/** The suffix of the metric's name, and the value. */
type Row = readonly [string, number]

function metric(name: string, type: string, help: string, rows: readonly Row[]): string[] {
  const values = rows.map(([suffix, value]) => `${name}${suffix} ${value}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values]
}

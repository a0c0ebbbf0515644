// The text exposition format 0.0.4 of Prometheus. Labels never hold names of tenants, tasks or agents, and their values are few.

/** A metric with its samples; a counter's name ends in `_total`, and names hold their unit. */
export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

export interface Sample {
  /** `_bucket`, `_sum` or `_count` of a histogram. */
  readonly suffix?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** Reads metrics that are not counted in memory. Rejects when what it reads is unavailable. */
export type MetricSource = () => Promise<readonly Metric[]>

export function expositionOf(metrics: readonly Metric[]): string {
  return metrics.map(textOf).join('')
}

function textOf({ name, type, help, samples }: Metric): string {
  const lines = samples.map(({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelsOf(labels)} ${value}\n`)
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

export function gauge(name: string, help: string, value: number): Metric {
  return { name, type: 'gauge', help, samples: [{ value }] }
}

export function counter(name: string, help: string, value: number): Metric {
  return { name, type: 'counter', help, samples: [{ value }] }
}

export interface Histogram {
  readonly observe: (value: number) => void
  readonly samples: (labels?: Readonly<Record<string, string>>) => Sample[]
}

/** Counts observations up to each of the bounds, which ascend. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const buckets = bounds.map(() => 0)
  const all = { sum: 0, count: 0 }
  return {
    observe: (value) => {
      all.sum += value
      all.count += 1
      const index = bounds.findIndex((bound) => value <= bound)
      if (index >= 0) buckets[index] = (buckets[index] ?? 0) + 1
    },
    samples: (labels = {}) => {
      let below = 0
      const within = bounds.map((bound, index) => {
        below += buckets[index] ?? 0
        return { suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: below }
      })
      return [
        ...within,
        { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: all.count },
        { suffix: '_sum', labels, value: all.sum },
        { suffix: '_count', labels, value: all.count },
      ]
    },
  }
}

/** The time in which one reading is reused, so that scrapers do not multiply the queries, ms. */
const maxAgeMs = 5000
/** The maximum wait of a scrape for a reading, ms. */
const maxWaitMs = 1000

/**
 * A source that reads at most once per `maxAgeMs` and never rejects. While what it reads is unavailable, or slower than a
 * scrape may wait, its metrics are absent: an old value would look like a fresh one. `now` in ms, from any start.
 */
export function cachedSource(source: MetricSource, now: () => number): MetricSource {
  let last: { readonly at: number; readonly read: Promise<readonly Metric[]> } | null = null
  return async () => {
    if (last === null || now() - last.at >= maxAgeMs) {
      const read = source().catch(() => [])
      last = { at: now(), read }
    }
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<readonly Metric[]>((resolve) => {
      timer = setTimeout(() => resolve([]), maxWaitMs)
    })
    return Promise.race([last.read, late]).finally(() => clearTimeout(timer))
  }
}

// Counters of this process, without names of tenants.
import { counter, createHistogram, type Histogram, type Metric, type Sample } from './exposition.js'

export interface Meter {
  readonly answered: (answer: Answered) => void
  /** Counts a commit of entries to the log. */
  readonly committed: (commit: { readonly entries: number; readonly violations: number }) => void
  /** Counts a hosted evaluation. */
  readonly evaluated: (outcome: string) => void
  readonly metrics: () => Metric[]
}

interface Answered {
  readonly method: string
  /** The path of a route, with its parameters in braces; null for other paths. */
  readonly route: string | null
  readonly status: number
  readonly seconds: number
}

/** Upper bounds of entries per commit, up to the largest batch. */
const entryBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256]
/** Upper bounds of an answer in seconds: 50 ms is the bar of lists. */
const secondBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

interface Answers {
  readonly labels: { readonly method: string; readonly route: string }
  readonly seconds: Histogram
  /** By class, such as `2xx`. */
  readonly statuses: Map<string, number>
}

export function createMeter(): Meter {
  const answers = new Map<string, Answers>()
  const commits = createHistogram(entryBounds)
  const totals = { entries: 0, violations: 0 }
  const outcomes = new Map<string, number>()
  const answersOf = (method: string, route: string) => {
    const key = `${method} ${route}`
    const known = answers.get(key) ?? {
      labels: { method, route },
      seconds: createHistogram(secondBounds),
      statuses: new Map<string, number>(),
    }
    answers.set(key, known)
    return known
  }
  return {
    answered: ({ method, route, status, seconds }) => {
      // Anyone can send any method and path: they share one label.
      const known = route === null ? answersOf('any', 'other') : answersOf(method, route)
      add(known.statuses, `${Math.floor(status / 100)}xx`)
      known.seconds.observe(seconds)
    },
    committed: ({ entries, violations }) => {
      totals.entries += entries
      totals.violations += violations
      commits.observe(entries)
    },
    evaluated: (outcome) => add(outcomes, outcome),
    metrics: () => [
      ...answerMetrics([...answers.values()]),
      counter('svc_log_entries_total', 'Log entries committed; each was evaluated.', totals.entries),
      counter('svc_log_violations_total', 'Violations of committed entries.', totals.violations),
      {
        name: 'svc_log_commit_entries',
        type: 'histogram',
        help: 'Log entries of one commit.',
        samples: commits.samples(),
      },
      {
        name: 'svc_evaluations_total',
        type: 'counter',
        help: 'Hosted evaluations by outcome.',
        samples: [...outcomes].map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
    ],
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function answerMetrics(answers: readonly Answers[]): Metric[] {
  const counted = answers.flatMap(({ labels, statuses }): Sample[] =>
    [...statuses].map(([status, value]) => ({ labels: { ...labels, status }, value })),
  )
  return [
    {
      name: 'svc_http_requests_total',
      type: 'counter',
      help: 'Answered requests by route and status class.',
      samples: counted,
    },
    {
      name: 'svc_http_request_seconds',
      type: 'histogram',
      help: 'Time from the head of a request to the end of its answer.',
      samples: answers.flatMap(({ labels, seconds }) => seconds.samples(labels)),
    },
  ]
}

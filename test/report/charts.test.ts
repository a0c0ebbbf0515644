import { describe, expect, it } from 'vitest'
import { activityChart, stepTypesChart } from '../../report/charts/activity.js'
import { shades } from '../../report/charts/charts.js'
import { incidentsChart } from '../../report/charts/incidents.js'
import { timelineStrip } from '../../report/charts/timeline.js'
import { reportData } from '../support/reports/report-data.js'
import { hostileReport, largeReport } from '../support/reports/report-samples.js'

const size = { width: 480, height: 160 }
const data = reportData()
const { period } = data.report
const intervals = data.agents.rows.flatMap(({ governance }) => governance.intervals)

const charts: Readonly<Record<string, () => string>> = {
  'steps and violations': () => activityChart(data.activity, size),
  'a year of steps': () => activityChart(largeReport(2).activity, size),
  'types of steps': () => stepTypesChart(data.activity.step_types, size),
  'hostile types of steps': () => stepTypesChart(hostileReport().activity.step_types, size),
  incidents: () => incidentsChart(data.incidents.counts, size),
  'a timeline': () => timelineStrip(period, intervals, { width: 300, height: 11 }),
  nothing: () => activityChart({ interval: 'day', buckets: [] }, size),
}

/** How dark a colour is on a grey printer: 0 is black, 1 is white. */
function lightness(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/[0-9a-f]{2}/g) ?? []).map(
    (part) => Number.parseInt(part, 16) / 255,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

describe.each(Object.entries(charts))('the chart of %s', (_, draw) => {
  it('has the same bytes each time', () => {
    expect(draw()).toBe(draw())
  })

  it('needs no exception of a strict content security policy', () => {
    expect(draw()).not.toMatch(/<style|\sstyle=|\son\w+=|<script|href=|class=|<image|url\(/)
  })

  it('is well formed, and named for a screen reader', () => {
    const svg = draw()
    expect(svg).toMatch(/^<svg role="img" aria-label="[^"<>&]+" /)
    expect(svg.replace(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&')
    expect(svg).not.toContain('NaN')
  })
})

describe('shades', () => {
  it('are apart on a grey printer', () => {
    const levels = [shades.dark, shades.middle, shades.light, shades.none].map(lightness)
    const steps = levels.slice(1).map((level, index) => level - (levels[index] ?? 0))
    expect(steps.filter((step) => step < 0.15)).toEqual([])
  })
})

describe('a timeline', () => {
  const strip = (state: 'ungoverned' | 'unknown', from: string, to: string) =>
    timelineStrip(period, [{ from, to, state, reason: 'silent', instance_id: null }], { width: 300, height: 11 })

  it('hatches unknown time and fills ungoverned time', () => {
    const unknown = strip('unknown', '2026-03-05T00:00:00.000Z', '2026-03-15T00:00:00.000Z')
    const ungoverned = strip('ungoverned', '2026-03-05T00:00:00.000Z', '2026-03-15T00:00:00.000Z')
    expect(unknown.match(/stroke-width="0.45"/g)?.length).toBeGreaterThan(10)
    expect(ungoverned).not.toContain('stroke-width="0.45"')
    expect(ungoverned).toContain(`fill="${shades.dark}"`)
  })

  it('shows a second in a month', () => {
    expect(strip('ungoverned', '2026-03-05T00:00:00.000Z', '2026-03-05T00:00:01.000Z')).toContain(
      `fill="${shades.dark}"`,
    )
  })

  it('keeps to the period', () => {
    const svg = strip('ungoverned', '2020-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z')
    expect(svg).toMatch(/<path d="M0 0l300 0l0 11l-300 0Z" fill="#0b4f6c"/)
  })
})

describe('a timeline of an agent', () => {
  it('is empty before the agent was registered and after the cut-off', () => {
    const known = { from: '2026-03-16T12:00:00.000Z', to: '2026-03-24T06:00:00.000Z' }
    const svg = timelineStrip(period, [], { width: 310, height: 11 }, known)
    expect(svg).toMatch(/<path d="M155 0l77.5 0l0 11l-77.5 0Z" fill="#e4edf1"/)
  })
})

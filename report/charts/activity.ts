// Steps, violations and incidents over time; steps by type.

import { count, sortedByCount } from '../content/figures.js'
import type { Activity } from '../content/report-data.js'
import { bar, categoryAxis, chartLabel, draw, label, orNothing, type Size, shades, valueAxis } from './charts.js'

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

function bucketLabel(from: string, interval: Activity['interval']): string {
  const [year, month, day] = from.slice(0, 10).split('-')
  const name = months[Number(month) - 1] ?? ''
  return interval === 'month' ? `${name} ${year}` : `${Number(day)} ${name}`
}

/** The part of the activity that the chart of steps and violations shows. */
export interface Course extends Pick<Activity, 'interval'> {
  readonly buckets: readonly Pick<Activity['buckets'][number], 'from' | 'steps' | 'violations'>[]
}

/** Steps above, violations below, over the same days: two scales, because the one is a thousand times the other. */
export function activityChart(activity: Course, size: Size): string {
  const { buckets, interval, per } = grouped(activity)
  const data = buckets.map(({ from }) => bucketLabel(from, interval))
  const upper = Math.round(size.height * 0.48)
  const top = 16
  const lower = size.height - upper - 3 * top - 6
  const grids = [
    { left: 34, right: 6, top, height: upper - top },
    { left: 34, right: 6, top: upper + 2 * top + 4, height: lower },
  ]
  const rows = [
    { name: `Steps per ${per}`, values: buckets.map(({ steps }) => steps), color: shades.light },
    { name: `Violations per ${per}`, values: buckets.map(({ violations }) => violations), color: shades.dark },
  ]
  const option = {
    grid: grids,
    xAxis: rows.map((_, index) => ({
      ...categoryAxis,
      gridIndex: index,
      data,
      axisLabel: { ...categoryAxis.axisLabel, show: index === 1, hideOverlap: true },
    })),
    yAxis: rows.map(({ name, values }, index) => ({
      ...valueAxis,
      gridIndex: index,
      splitNumber: index === 0 ? 3 : 2,
      max: Math.max(2, ...values) === 2 ? 2 : undefined,
      name,
      nameTextStyle: { ...label, align: 'left', padding: [0, 0, 0, -30] },
      nameGap: 6,
    })),
    series: rows.map(({ values, color }, index) => ({
      type: 'bar',
      xAxisIndex: index,
      yAxisIndex: index,
      data: values.map(orNothing),
      itemStyle: bar(color, buckets.length > 62 ? 0.2 : 0.5),
      barCategoryGap: '25%',
      barMaxWidth: 26,
    })),
  }
  return draw(option, size, `Steps and violations per ${per}`)
}

/** A chart has room for about this many bars. */
const maxBars = 130

/** Neighbours summed until the bars fit the chart; `per` says what one bar is. */
function grouped({ buckets, interval }: Course) {
  const size = Math.max(1, Math.ceil(buckets.length / maxBars))
  const groups = Array.from({ length: Math.ceil(buckets.length / size) }, (_, index) =>
    buckets.slice(index * size, (index + 1) * size),
  )
  const total = (group: Course['buckets'], name: 'steps' | 'violations') =>
    group.reduce((sum, bucket) => sum + bucket[name], 0)
  return {
    interval,
    per: size === 1 ? interval : `${size} ${interval}s`,
    buckets: groups.map((group) => ({
      from: group[0]?.from ?? '',
      steps: total(group, 'steps'),
      violations: total(group, 'violations'),
    })),
  }
}

const maxTypes = 9

/** The most frequent types, and the sum of the others. */
export function stepTypesChart(types: Activity['step_types'], size: Size): string {
  const all = sortedByCount(types)
  const others = all.slice(maxTypes).reduce((sum, [, steps]) => sum + steps, 0)
  const shown = all.slice(0, maxTypes).concat(others === 0 ? [] : [['other types', others]])
  return barsChart(shown, size, 'Steps by type')
}

function barsChart(rows: readonly (readonly [string, number])[], size: Size, title: string): string {
  const option = {
    grid: { left: 92, right: 40, top: 4, bottom: 4 },
    xAxis: { ...valueAxis, show: false },
    yAxis: {
      ...categoryAxis,
      inverse: true,
      data: rows.map(([name]) => chartLabel(name, 20)),
      axisLine: { show: false },
    },
    series: [
      {
        type: 'bar',
        data: rows.map(([, value]) => value),
        itemStyle: bar(shades.middle),
        barMaxWidth: 12,
        label: { ...label, position: 'right', formatter: ({ value }: { value: number }) => count(value) },
      },
    ],
  }
  return draw(option, size, title)
}

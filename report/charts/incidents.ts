// Incidents by severity, each bar split by what became of them.

import { type Incidents, incidentStates, severities } from '../content/report-data.js'
import { bar, categoryAxis, draw, label, legend, type Size, shades, valueAxis } from './charts.js'

const colors = { open: shades.dark, active: shades.middle, resolved: shades.light, ignored: shades.none }

export function incidentsChart(counts: Incidents['counts'], size: Size): string {
  const value = (severity: string, state: string) =>
    counts.find((each) => each.severity === severity && each.state === state)?.count ?? 0
  const option = {
    legend,
    grid: { left: 44, right: 14, top: 22, bottom: 4 },
    xAxis: { ...valueAxis, show: false },
    yAxis: { ...categoryAxis, inverse: true, data: [...severities], axisLine: { show: false } },
    series: incidentStates.map((state) => ({
      type: 'bar',
      stack: 'state',
      name: state,
      data: severities.map((severity) => value(severity, state) || null),
      itemStyle: bar(colors[state]),
      barMaxWidth: 16,
      label: { ...label, position: 'inside', color: state === 'open' ? '#ffffff' : label.color },
    })),
  }
  return draw(option, size, 'Incidents by severity and state')
}

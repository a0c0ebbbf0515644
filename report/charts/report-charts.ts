// The charts of a report.
import { activityChart, stepTypesChart } from './activity.js'
import { incidentsChart } from './incidents.js'
import { timelineStrip } from './timeline.js'

export const charts = { activityChart, stepTypesChart, incidentsChart, timelineStrip }
export type Charts = typeof charts

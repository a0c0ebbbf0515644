// The chart of steps and violations outside of a report.
import type { Course } from '../charts/activity.js'
import type { Size } from '../charts/charts.js'

/** The chart as SVG. The library of charts is loaded when it is first needed: it takes 25 MB of memory. */
export async function activityChart(course: Course, size: Size): Promise<string> {
  return (await import('../charts/activity.js')).activityChart(course, size)
}

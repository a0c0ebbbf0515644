// The governance of an agent: a strip of one period. Governed is pale, unknown is hatched, ungoverned is
// dark, and time in which no engine ran is white with a line, so that a grey print shows the four apart.
import type { GovernanceInterval } from '../governance/governance.js'
import { draw, type Size, shades } from './charts.js'

interface Span {
  readonly from: string
  readonly to: string
}

interface Place {
  readonly x: number
  readonly width: number
}

const governed = '#e4edf1'
/** Shorter time is drawn this wide: a minute in a year must be seen. */
const minWidth = 1.2

/**
 * A strip without text; `intervals` may overlap, and ungoverned time covers unknown time. Outside of `known`, such as before the
 * agent was registered, it is empty.
 */
export function timelineStrip(
  period: Span,
  intervals: readonly GovernanceInterval[],
  size: Size,
  known: Span = period,
): string {
  const [from, to] = [Date.parse(period.from), Date.parse(period.to)]
  const place = (interval: Span): Place => {
    const at = (time: string) => (size.width * (Math.min(to, Math.max(from, Date.parse(time))) - from)) / (to - from)
    const width = Math.max(minWidth, at(interval.to) - at(interval.from))
    return { x: Math.min(at(interval.from), size.width - width), width }
  }
  const of = (state: GovernanceInterval['state']) => merged(intervals.filter((each) => each.state === state).map(place))
  const shapes = [
    rectangle(place(known), size, { fill: governed }),
    ...of('idle').flatMap((each) => crossed(each, size)),
    ...of('unknown').flatMap((each) => hatched(each, size)),
    ...of('ungoverned').map((each) => rectangle(each, size, { fill: shades.dark })),
    frame(size),
  ]
  return strip(shapes, size)
}

/** Overlapping places as one, so that a year of short intervals is a few shapes. */
function merged(places: readonly Place[]): Place[] {
  const result: { x: number; width: number }[] = []
  for (const { x, width } of [...places].sort((a, b) => a.x - b.x)) {
    const last = result.at(-1)
    if (last !== undefined && x <= last.x + last.width) last.width = Math.max(last.width, x + width - last.x)
    else result.push({ x, width })
  }
  return result
}

const rectangle = ({ x, width }: Place, { height }: Size, style: object) => ({
  type: 'rect',
  shape: { x, y: 0, width, height },
  style,
})

/** Inside of the drawing by half of its line, which would be cut otherwise. */
const frame = ({ width, height }: Size) => ({
  type: 'rect',
  shape: { x: 0.3, y: 0.3, width: width - 0.6, height: height - 0.6 },
  style: { fill: 'none', stroke: shades.line, lineWidth: 0.6 },
})

/** White with slanted lines: neither pale nor dark. */
function hatched({ x, width }: Place, size: Size): object[] {
  const lines: object[] = []
  for (let start = x - size.height + 2; start < x + width; start += 3.5) {
    const left = Math.max(x, start)
    const right = Math.min(x + width, start + size.height)
    if (right <= left) continue
    const shape = { x1: left, y1: size.height - (left - start), x2: right, y2: size.height - (right - start) }
    lines.push({ type: 'line', shape, style: { stroke: shades.line, lineWidth: 0.45 } })
  }
  const paper = { fill: '#ffffff', stroke: shades.line, lineWidth: 0.4 }
  return [rectangle({ x, width }, size, paper), ...lines]
}

/** White with one line along the middle. */
function crossed({ x, width }: Place, size: Size): object[] {
  const middle = size.height / 2
  const shape = { x1: x, y1: middle, x2: x + width, y2: middle }
  const paper = { fill: '#ffffff', stroke: shades.line, lineWidth: 0.4 }
  return [
    rectangle({ x, width }, size, paper),
    { type: 'line', shape, style: { stroke: shades.line, lineWidth: 0.45 } },
  ]
}

function strip(shapes: readonly object[], size: Size): string {
  const hidden = { show: false }
  const option = {
    grid: { left: 0, right: 0, top: 0, bottom: 0 },
    xAxis: { ...hidden, type: 'value' },
    yAxis: { ...hidden, type: 'value' },
    series: [{ type: 'custom', data: [0], renderItem: () => ({ type: 'group', children: shapes }) }],
  }
  return draw(option, size, 'When policies were enforced')
}

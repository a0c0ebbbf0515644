// Every chart of the platform: drawn by echarts on the server as SVG without styles, so that it needs no exception of a strict content
// security policy, prints in a PDF, and has the same bytes each time. Shades, outlines and numbers carry the meaning, never a hue.
import { BarChart, CustomChart } from 'echarts/charts'
import { GridComponent, LegendComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { count } from '../content/figures.js'
import { accent, hairline, ink, quiet } from './colours.js'

use([BarChart, CustomChart, GridComponent, LegendComponent, SVGRenderer])

export interface Size {
  readonly width: number
  readonly height: number
}

export const shades = {
  dark: accent,
  middle: '#6f9db3',
  light: '#bcd3de',
  none: '#ffffff',
  line: accent,
} as const
const font = { fontFamily: 'Roboto, sans-serif', fontSize: 8, color: quiet }

const axisLine = { lineStyle: { color: quiet, width: 0.6 } }
const gridLine = { lineStyle: { color: hairline, width: 0.5 } }

export const valueAxis = {
  type: 'value',
  minInterval: 1,
  splitNumber: 3,
  axisLabel: { ...font, formatter: short },
  splitLine: gridLine,
} as const

export const categoryAxis = {
  type: 'category',
  axisLabel: font,
  axisLine,
  axisTick: { show: false },
} as const

export const legend = {
  top: 0,
  left: 0,
  itemWidth: 9,
  itemHeight: 9,
  itemGap: 14,
  icon: 'rect',
  itemStyle: { borderWidth: 0.6 },
  textStyle: { ...font, color: ink },
} as const
export const label = { show: true, ...font, color: ink } as const
/** Zero gets no bar: its outline would be a line. */
export const orNothing = (value: number): number | null => (value === 0 ? null : value)
export const bar = (color: string, borderWidth = 0.5) => ({ color, borderColor: shades.line, borderWidth })

/** `12,000` as `12k`: labels of an axis are short. */
function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(1))}M`
  return value >= 1e4 ? `${Number((value / 1e3).toFixed(1))}k` : count(value)
}

/** The labels of a chart are untrusted too: what is not plain text becomes `?`, and long ones are cut. */
export function chartLabel(text: string, max = 28): string {
  const plain = text.replace(/[^\x20-\x7e]/gu, '?')
  return plain.length > max ? `${plain.slice(0, max - 1)}…` : plain
}

/** Draws a chart; `title` is what a screen reader reads. */
export function draw(option: object, { width, height }: Size, title: string): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({ animation: false, textStyle: font, ...option })
  const painter = (chart.getZr() as unknown as { readonly painter: Painter }).painter
  const svg = painter.renderToString({ useViewBox: true, cssEmphasis: false, cssAnimation: false })
  chart.dispose()
  return named(withoutStyles(svg), title)
}

/** renderToSVGString of echarts numbers its classes over the life of the process; its painter writes none of them. */
interface Painter {
  renderToString(options: object): string
}

const withoutStyles = (svg: string) =>
  svg
    .replace(/ ecmeta_\w+="[^"]*"/g, '')
    .replace(/ style="([^"]*)"/g, (_, css: string) => css.split(';').map(attribute).join(''))

function attribute(declaration: string): string {
  const colon = declaration.indexOf(':')
  return colon === -1 ? '' : ` ${declaration.slice(0, colon).trim()}="${declaration.slice(colon + 1).trim()}"`
}

const named = (svg: string, title: string) =>
  svg.replace('<svg ', `<svg role="img" aria-label="${chartLabel(title, 200).replace(/[&<>"]/g, ' ')}" `)

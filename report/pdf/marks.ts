// Small drawings: the mark of the verdict, a rule, a figure.
import { accent, ink } from '../charts/colours.js'
import type { Verdict } from '../content/statements.js'
import type { Block } from './engine.js'
import type { Pen } from './pen.js'

const line = (points: readonly (readonly [number, number])[], color: string, lineWidth: number) => ({
  type: 'polyline',
  points: points.map(([x, y]) => ({ x, y })),
  lineColor: color,
  lineWidth,
  lineCap: 'round',
  lineJoin: 'round',
})

/** A tick in a circle, an exclamation mark in an outlined circle, a cross in a square: three shapes, not three colours. */
export function verdictMark(mark: Verdict['mark']): Block {
  const white = '#ffffff'
  const circle = { type: 'ellipse', x: 15, y: 15, r1: 14, r2: 14 }
  const drawings = {
    good: [
      { ...circle, color: accent },
      line(
        [
          [8.5, 15.5],
          [13.2, 20.2],
          [21.8, 10.4],
        ],
        white,
        2.4,
      ),
    ],
    attention: [
      { ...circle, lineColor: accent, lineWidth: 2.2, color: white },
      line(
        [
          [15, 8],
          [15, 16.6],
        ],
        accent,
        2.8,
      ),
      { type: 'ellipse', x: 15, y: 21.6, r1: 1.7, r2: 1.7, color: accent },
    ],
    problem: [
      { type: 'rect', x: 1, y: 1, w: 28, h: 28, color: ink },
      line(
        [
          [9, 9],
          [21, 21],
        ],
        white,
        2.8,
      ),
      line(
        [
          [21, 9],
          [9, 21],
        ],
        white,
        2.8,
      ),
    ],
  }
  return { canvas: drawings[mark] }
}

export const ruleOf = (width: number, color: string, lineWidth: number): Block => ({
  canvas: [{ type: 'line', x1: 0, y1: 0, x2: width, y2: 0, lineColor: color, lineWidth }],
})

/** A number with what it counts below it. */
export const figure = (pen: Pen, value: string, name: string): Block => ({
  stack: [pen.text(value, { size: 17, bold: true, color: accent }), pen.text(name, { style: 'note' })],
})

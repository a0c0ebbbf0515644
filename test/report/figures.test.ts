import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as figures from '../../report/content/figures.js'

type Rows = readonly (readonly [...unknown[], string])[]

const cases = parse(readFileSync(new URL('../cases/reports/figures.yaml', import.meta.url), 'utf8')) as Readonly<
  Record<string, Rows>
>

const functions: Readonly<Record<string, (...values: never[]) => string>> = {
  count: figures.count,
  counted: (value: number) => figures.counted(value, 'step'),
  share: figures.share,
  duration: figures.duration,
  day: figures.day,
  moment: figures.moment,
  period: (from: string, to: string) => figures.period({ from, to }),
  listed: figures.listed,
}

describe.each(Object.entries(cases))('%s', (name, rows) => {
  it.each(rows.map((row) => ({ values: row.slice(0, -1), words: row.at(-1) })))(
    'of $values is $words',
    ({ values, words }) => {
      expect(functions[name]?.(...(values as never[]))).toBe(words)
    },
  )
})

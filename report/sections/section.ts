// A section of a report: its part of the PDF, and the part of the content that OSCAL observes in it.
import type { Charts } from '../charts/report-charts.js'
import type { ContentPart, ReportData } from '../content/report-data.js'
import type { ControlRow } from '../controls/controls.js'
import { partId } from '../oscal/uuid.js'
import type { Block } from '../pdf/engine.js'
import type { Pen } from '../pdf/pen.js'

export interface Section {
  readonly pdf: (context: Context) => readonly Block[]
  readonly oscal?: Observation
}

/** Everything that a section of the PDF is written from. */
export interface Context {
  readonly data: ReportData
  readonly controls: readonly ControlRow[]
  readonly pen: Pen
  /** Passed in: OSCAL lists the same sections without loading the library of the charts. */
  readonly charts: Charts
  /** An actor, with the name of a person before the id. */
  readonly who: (actor: string) => string
}

/** One observation of the part as a whole, and one of each row that an auditor looks at by itself. */
export interface Observation {
  readonly at: ContentPart
  readonly title: string
  readonly sentences: (data: ReportData) => readonly string[]
  /** The path from the part of numbers by name, whose names are data. */
  readonly map?: string
  readonly list?: ObservedList
}

export interface ObservedList {
  /** Its path from the part. */
  readonly at: string
  /** `at` is its place in the content. */
  readonly rows: (data: ReportData, at: string) => Iterable<ObservedRow>
}

export interface ObservedRow {
  /** The place in the content. */
  readonly at: string
  readonly row: object
  readonly title: string
  readonly description: readonly string[]
  readonly type?: 'finding'
  readonly agent_id?: string
}

export type Described = Omit<ObservedRow, 'at' | 'row'>

/** The list at a path from the part. */
export function observedList<T extends object>(
  at: string,
  rowsOf: (data: ReportData) => readonly T[],
  describe: (row: T) => Described,
): ObservedList {
  return { at, rows: (data, place) => observedRows(place, rowsOf(data), describe) }
}

/** The rows of the list at a place in the content. */
export function* observedRows<T extends object>(
  at: string,
  rows: readonly T[],
  describe: (row: T) => Described,
): Generator<ObservedRow> {
  for (const [index, row] of rows.entries()) yield { at: `${at}.${index}`, row, ...describe(row) }
}

/** The id of the observation of a place in the content. */
export const observationId = (report: string, at: string) => partId(report, `observation/${at}`)

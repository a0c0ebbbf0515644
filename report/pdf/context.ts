import type { ReportData } from '../content/report-data.js'
import type { ControlRow } from '../controls/controls.js'
import type { Block } from './engine.js'
import type { Pen } from './pen.js'

/** What each section is written from. */
export interface Context {
  readonly data: ReportData
  readonly controls: readonly ControlRow[]
  readonly pen: Pen
  /** An actor, with the name of a person before the id. */
  readonly who: (actor: string) => string
}

export type Section = (context: Context) => readonly Block[]

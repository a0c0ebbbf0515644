// A control: an obligation of a framework in our own words, and its evidence in the log of a period.
import type { ContentPart, PolicyResult, ReportData } from '../content/report-data.js'

export interface ControlDefinition {
  /** A token of OSCAL: a letter, then letters, digits, `.`, `-`, `_`. */
  readonly control_id: string
  readonly title: string
  /** Its demand in our own words; never the text of the framework. */
  readonly asks: string
  /** Other ids under which policies name it; tags of its parts count always. */
  readonly also?: readonly string[]
  /** The only tag that names it: a control of the organization itself. */
  readonly tag?: string
  /** Policies of these rules count for it, whatever their tags. */
  readonly rule_types?: readonly string[]
  /** The limits of every log of svc. */
  readonly gaps: readonly string[]
  /** Finds the evidence of the period; without it, svc does not cover the control. */
  readonly find?: (data: ReportData, policies: readonly PolicyResult[]) => Found
}

export interface Found {
  readonly evidence: readonly string[]
  /** Facts of the period that speak against the control. */
  readonly problems: readonly string[]
  /** The parts of the content that they are taken from. */
  readonly parts: readonly ContentPart[]
}

export interface Framework {
  /** A token of OSCAL; the ids of its controls begin with it. */
  readonly id: string
  readonly title: string
  /** The text that the controls refer to. */
  readonly source: string
  readonly draft: boolean
  readonly controls: readonly ControlDefinition[]
}

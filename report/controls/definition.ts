// What a control is: an obligation of a framework in our own words, and what the log of a period can show of it.
import type { ContentPart, PolicyResult, ReportData } from '../content/report-data.js'

export interface ControlDefinition {
  /** A token of OSCAL: a letter, then letters, digits, `.`, `-`, `_`. */
  readonly control_id: string
  readonly title: string
  /** What it asks, in our own words; never the text of the framework. */
  readonly asks: string
  /** Other ids under which policies name it; tags of its parts count always. */
  readonly also?: readonly string[]
  /** The only tag that names it: a control of the organization itself. */
  readonly tag?: string
  /** Policies of these rules count for it, whatever their tags. */
  readonly rule_types?: readonly string[]
  /** What no log of svc can show of it. */
  readonly gaps: readonly string[]
  /** What the period shows; without it, svc does not cover the control. */
  readonly find?: (data: ReportData, policies: readonly PolicyResult[]) => Found
}

export interface Found {
  readonly evidence: readonly string[]
  /** What in the period speaks against the control. */
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

// All formats of `svc import`, and the format that a value shows.

import { type CodingFormatName, codingFormatNames, formatOfLine } from '@svc/adapters/sessions'
import { formatOfRun, isOtlp, type RunFormatName, runFormatNames } from '@svc/engine/parts'
import { isMap } from '@svc/proof'

export type FormatName = RunFormatName | CodingFormatName | 'otel' | 'trace'

export const formatNames: readonly FormatName[] = [...runFormatNames, ...codingFormatNames, 'otel', 'trace']

/** The format of a value: of a run, of spans, of a line of a trace or of a session; null when it is in none. */
export function formatOf(value: unknown): FormatName | null {
  if (isOtlp(value)) return 'otel'
  return isTraceLine(value) ? 'trace' : (formatOfRun(value) ?? formatOfLine(value))
}

const lineKinds: ReadonlySet<unknown> = new Set(['step', 'end', 'evaluation', 'unrecorded', 'incident', 'gap'])

function isTraceLine(value: unknown): boolean {
  if (!isMap(value)) return false
  return typeof value.step_type === 'string' || (lineKinds.has(value.kind) && value.recorded_at !== undefined)
}

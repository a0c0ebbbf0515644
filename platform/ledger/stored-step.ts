// A stored step: its columns in the log, and its payload.
import { stepOfRecord } from '@svc/engine'
import type { StepColumns } from '@svc/engine/parts'
import { parseJson } from '@svc/proof'
import type { Step } from '@svc/schemas'

export { type StepColumns, stepColumns } from '@svc/engine/parts'

/** A stored step with its payload, which is null once it is erased. */
export function stepOf(entry: StepColumns, body: string | null): Step {
  return stepOfRecord(entry, body === null ? {} : (parseJson(body) as Record<string, unknown>))
}

/** A time logged without a zone is UTC; without the suffix, clients would read it as local time. */
export function withZone(time: string): string {
  return /([Zz]|[+-]\d{2}:\d{2})$/.test(time) ? time : `${time}Z`
}

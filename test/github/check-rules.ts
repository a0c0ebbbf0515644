// The rules for what an App writes into a check run. Each break of a rule is GitHub's 422.
import { failedValidation, invalid } from './api.js'
import type { Annotation, Json } from './world.js'

const statuses = ['queued', 'in_progress', 'completed']
const conclusions = ['action_required', 'cancelled', 'failure', 'neutral', 'success', 'skipped', 'timed_out']
const levels = ['notice', 'warning', 'failure']

/** Rejects a body of `POST` or `PATCH` as a whole. */
export function checkRunBody(body: Json, isNew: boolean): void {
  if (isNew) {
    requireText(body, 'name')
    requireText(body, 'head_sha')
  }
  oneOf(body, 'status', statuses)
  oneOf(body, 'conclusion', conclusions)
  if (body.status === 'completed' && body.conclusion === undefined) {
    throw invalid('"conclusion" is required when "status" is "completed".')
  }
  for (const member of ['started_at', 'completed_at']) {
    const value = body[member]
    if (value !== undefined && !(typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && Date.parse(value) > 0))
      throw invalid(`"${member}" is not a valid date-time.`)
  }
  const { details_url } = body
  if (details_url !== undefined && !/^https?:\/\/[^\s/]/i.test(String(details_url))) {
    throw failedValidation('CheckRun', 'details_url', 'details_url must use http or https scheme')
  }
  if (body.output !== undefined) checkOutput(record(body.output, 'output'), isNew)
  if (body.actions !== undefined) checkActions(body.actions)
}

function checkOutput(output: Json, isNew: boolean): void {
  if (isNew) requireText(output, 'title')
  requireText(output, 'summary')
  for (const member of ['title', 'summary', 'text']) {
    const value = output[member]
    if (value === undefined) continue
    if (typeof value !== 'string')
      throw invalid(`For 'properties/${member}', ${JSON.stringify(value)} is not a string.`)
    if (member === 'title') continue
    if ([...value].length > 65_535)
      throw invalid(`Only 65535 characters are allowed; ${[...value].length} were supplied.`)
    // The documentation says characters; the database counts bytes.
    if (Buffer.byteLength(value) > 65_535)
      throw failedValidation('CheckRun', member, `${member} exceeds a maximum bytesize of 65535`)
  }
  if (output.annotations === undefined) return
  const annotations = list(output.annotations, 'annotations')
  if (annotations.length > 50) throw invalid(`No more than 50 items are allowed; ${annotations.length} were supplied.`)
  for (const annotation of annotations) checkAnnotation(record(annotation, 'annotations'))
}

function checkAnnotation(annotation: Json): void {
  requireText(annotation, 'path')
  requireText(annotation, 'message')
  oneOf(annotation, 'annotation_level', levels)
  if (annotation.annotation_level === undefined) throw missing('annotation_level')
  const { start_line, end_line, start_column, end_column } = annotation
  for (const [member, value] of Object.entries({ start_line, end_line, start_column, end_column })) {
    const isOptional = member.endsWith('column')
    if (value === undefined && isOptional) continue
    if (value === undefined) throw missing(member)
    if (!Number.isInteger(value))
      throw invalid(`For 'properties/${member}', ${JSON.stringify(value)} is not an integer.`)
    if (Number(value) < 1) throw failedValidation('CheckAnnotation', member, `${member} must be greater than 0`)
  }
  const lines = [Number(start_line), Number(end_line)] as const
  if (lines[0] > lines[1])
    throw failedValidation('CheckAnnotation', 'end_line', 'end_line must be greater than or equal to start_line')
  const hasColumn = start_column !== undefined || end_column !== undefined
  if (hasColumn && lines[0] !== lines[1])
    throw failedValidation('CheckAnnotation', 'start_column', 'start_column and end_column need one line')
  if (Number(start_column ?? 1) > Number(end_column ?? Number.MAX_SAFE_INTEGER))
    throw failedValidation('CheckAnnotation', 'end_column', 'end_column must be greater than or equal to start_column')
  atMost(annotation, 'message', 65_536, 'bytes')
  atMost(annotation, 'raw_details', 65_536, 'bytes')
  atMost(annotation, 'title', 255, 'characters')
}

function checkActions(value: unknown): void {
  const actions = list(value, 'actions')
  if (actions.length > 3) throw invalid(`No more than 3 items are allowed; ${actions.length} were supplied.`)
  for (const one of actions) {
    const action = record(one, 'actions')
    for (const [member, max] of Object.entries({ label: 20, description: 40, identifier: 20 })) {
      requireText(action, member)
      atMost(action, member, max, 'characters')
    }
  }
}

function atMost(holder: Json, member: string, max: number, unit: 'bytes' | 'characters'): void {
  const value = holder[member]
  if (value === undefined || value === null) return
  if (typeof value !== 'string') throw invalid(`For 'properties/${member}', ${JSON.stringify(value)} is not a string.`)
  const length = unit === 'bytes' ? Buffer.byteLength(value) : [...value].length
  if (length > max) throw invalid(`Only ${max} ${unit} are allowed; ${length} were supplied.`)
}

const missing = (member: string) => invalid(`"${member}" wasn't supplied.`)

function requireText(holder: Json, member: string): void {
  const value = holder[member]
  if (value === undefined || value === null || value === '') throw missing(member)
  if (typeof value !== 'string') throw invalid(`For 'properties/${member}', ${JSON.stringify(value)} is not a string.`)
}

function oneOf(holder: Json, member: string, values: readonly string[]): void {
  const value = holder[member]
  if (value === undefined || values.includes(value as string)) return
  throw invalid(`For 'properties/${member}', ${JSON.stringify(value)} is not a member of ${JSON.stringify(values)}.`)
}

function record(value: unknown, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`For 'properties/${name}', ${JSON.stringify(value)} is not an object.`)
  }
  return value as Json
}

function list(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(`For 'properties/${name}', ${JSON.stringify(value)} is not an array.`)
  return value as unknown[]
}

/** The stored form of an accepted annotation. */
export function annotationOf(given: Json): Annotation {
  const { path, start_line, end_line, start_column, end_column, annotation_level, title, message, raw_details } = given
  return {
    path: String(path),
    start_line: Number(start_line),
    end_line: Number(end_line),
    start_column: start_column === undefined ? null : Number(start_column),
    end_column: end_column === undefined ? null : Number(end_column),
    annotation_level: annotation_level as Annotation['annotation_level'],
    title: (title as string | undefined) ?? null,
    message: String(message),
    raw_details: (raw_details as string | undefined) ?? null,
  }
}

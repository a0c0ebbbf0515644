// Members of a step that are not those of POST /api/v1/logs are kept: a sender that is newer, or misspells one, loses no step.
import { quotePath, suggestionFor } from '@svc/engine/parts'
import { documents, type JsonMap, type LogRequest } from '@svc/schemas'
import type { StepRequest } from './step-request.js'

const schema: JsonMap = documents['log-request']
const known = new Set(Object.keys(Object(schema.properties)))

/** Unknown members that an answer names; the others are counted. */
const maxNamed = 10

/** The step with its unknown members in `meta`, under a name that its own meta does not have, and what the answer says of them. */
export function withUnknownMembers(request: LogRequest): StepRequest {
  const unknown = Object.keys(request).filter((name) => !known.has(name))
  if (unknown.length === 0) return request
  const members = Object.entries(request)
  const meta = request.meta ?? {}
  const name = freeName(meta)
  const attributes = Object.fromEntries(members.filter(([member]) => !known.has(member)))
  const step = Object.fromEntries(members.filter(([member]) => known.has(member))) as StepRequest
  return { ...step, meta: { ...meta, [name]: attributes }, warnings: warningsOf(unknown, name) }
}

/** A sender that has `attributes` in its own meta keeps them as they are. */
function freeName(meta: object): string {
  let name = 'attributes'
  for (let number = 2; Object.hasOwn(meta, name); number++) name = `attributes_${number}`
  return name
}

function warningsOf(unknown: readonly string[], at: string): string[] {
  const named = unknown
    .slice(0, maxNamed)
    .map((name) => `${quotePath(name)} is not a member of a step, and is kept in \`meta.${at}\`${hintFor(name)}`)
  const more = unknown.length - named.length
  return more === 0
    ? named
    : [...named, `${more} more members are not those of a step: they are kept in \`meta.${at}\``]
}

function hintFor(name: string): string {
  const near = suggestionFor(name, schema)
  return near === null ? '' : `: did you mean \`${near}\`?`
}

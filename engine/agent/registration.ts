// A registration as rules see it, here and on the platform: the fields that have a meaning, and the rest as attributes.

import { documents, type JsonMap } from '@svc/schemas'

const fields = Object.keys(documents['agent-registration'].properties as JsonMap)

/** What was sent besides the fields that have a meaning. */
export function attributesOf(sent: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(sent).filter(([key]) => !fields.includes(key)))
}

/** The agent as it was sent, before any default. */
export function registrationFacts(sent: JsonMap, agent_id: string): JsonMap {
  const known = Object.entries(sent).filter(([key]) => fields.includes(key))
  return { ...Object.fromEntries(known), agent_id, attributes: attributesOf(sent) }
}

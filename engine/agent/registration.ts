// A registration as rules read it, in the engine and on the platform: the defined fields, and the others as attributes.

import { documents, type JsonMap } from '@svc/schemas'

const fields = Object.keys(documents['agent-registration'].properties as JsonMap)

/** The members that are not defined fields. */
export function attributesOf(sent: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(sent).filter(([key]) => !fields.includes(key)))
}

/** The agent as it was sent, before any default. */
export function registrationFacts(sent: JsonMap, agent_id: string): JsonMap {
  const known = Object.entries(sent).filter(([key]) => fields.includes(key))
  return { ...Object.fromEntries(known), agent_id, attributes: attributesOf(sent) }
}

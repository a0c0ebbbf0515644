// Stops in words for people.
import type { Stop } from '@svc/schemas'
import { paths } from '../../paths.js'
import { badge, type Html, id, joined, text } from '../../views/html.js'

/** Continue the sentence "The stop stops". */
export const targetWords: Readonly<Record<Stop['target']['kind'], string>> = {
  agent: 'this agent',
  key: 'every agent of one API key',
  manifest: 'every agent that has one manifest',
  workspace: 'every agent of the workspace',
}

/** The target with its id. */
export function target({ target: { kind, id: value } }: Stop): Html {
  if (value === null) return text(targetWords[kind])
  return joined([
    text(kind === 'agent' ? 'agent' : targetWords[kind]),
    id(
      value,
      kind === 'agent' ? paths.agent(value) : kind === 'manifest' ? paths.policies({ manifest_id: value }) : null,
    ),
  ])
}

/** The state; `resuming`: some of its agents are resumed. */
export function stopState(state: Stop['state']): Html {
  if (state === 'resumed') return badge('ended', 'green')
  return state === 'stopped' ? badge('on', 'red') : badge('resumed in part', 'orange')
}

// Stops in words for people.
import type { Stop } from '@svc/schemas'
import type { Agents } from '../../agents.js'
import { paths } from '../../paths.js'
import { badge, type Html, id, joined, text } from '../../views/html.js'

/** Continue the sentence "The stop stops". */
export const targetWords: Readonly<Record<Stop['target']['kind'], string>> = {
  agent: 'this agent',
  key: 'every agent of one API key',
  manifest: 'every agent that has one manifest',
  workspace: 'every agent of the workspace',
}

/** The target; an agent by its name. */
export function target({ target: { kind, id: value } }: Stop, linkTo: Agents['link']): Html {
  if (value === null) return text(targetWords[kind])
  if (kind === 'agent') return linkTo(value)
  return joined([
    text(targetWords[kind]),
    id(value, kind === 'manifest' ? paths.policies({ manifest_id: value }) : null),
  ])
}

/** The state; `resuming`: some of its agents are resumed. `isKnown` is false if nothing shows that it blocks a step. */
export function stopState(state: Stop['state'], isKnown = true): Html {
  if (state === 'resumed') return badge('ended', 'green')
  const [label, tone] = state === 'stopped' ? (['on', 'red'] as const) : (['resumed in part', 'orange'] as const)
  return isKnown ? badge(label, tone) : badge(`${label}, without effect known`, 'orange')
}

// Whether the engines of stopped agents are known to block their steps: a stop blocks nothing by itself.

import type { Agent } from '@svc/schemas'
import type { Query } from '../../../http/query.js'
import { nameOf } from '../../agents.js'
import { paths } from '../../paths.js'
import { countedOrNone, type Html, joined, link, nothing, piece, text } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { reasons } from '../agents/words.js'

/** Says that no engine of the agent is known to block its steps; nothing for an agent whose engines enforce the present policies. */
export function agentGap(visit: Visit, agent: Agent, isOn = true): Html {
  const state = agent.engine?.state ?? 'no_engine'
  if (state === 'enforcing') return nothing
  const name = nameOf(agent)
  const nothingBlocks = `nothing ${isOn ? 'blocks' : 'will block'} its steps, unless it asks the platform before each step`
  const fact =
    state === 'no_engine'
      ? `no engine reports for ${name}: ${nothingBlocks}`
      : state === 'stopped'
        ? `the engine of ${name} was stopped: ${nothingBlocks}`
        : `${name} may continue, unless it asks the platform before each step: ${withoutStop(state)}`
  const sentence = isOn ? `The stop is on, but ${fact}.` : `${fact.slice(0, 1).toUpperCase()}${fact.slice(1)}.`
  return alert({ isOn, fact: text(sentence), remedy: remedyOf(visit, false) })
}

function withoutStop(state: Exclude<NonNullable<Agent['engine']>['state'], 'enforcing'>): string {
  if (state !== 'stale_cache') return reasons[state]
  return 'its engine could not load the policies again, and enforces the last ones that it has'
}

export interface Gap {
  /** Agents of which an engine reports that it enforces. */
  readonly enforcing: number
  /** How many have such an engine and how many do not; nothing where all have one. */
  readonly warning: Html
}

/** The gap of several agents. */
export async function agentsGap(visit: Visit, filter: Query, isOn = true): Promise<Gap> {
  const count = async (governed: 'true' | 'false') => {
    const query = { ...filter, governed }
    const { total } = await visit.api.read('agent-list', '/api/v1/agents', { ...query, limit: '1' })
    return { total, link: link(paths.agents(query), countedOrNone(total, 'agent')) }
  }
  const [governed, others] = await Promise.all([count('true'), count('false')])
  if (others.total === 0) return { enforcing: governed.total, warning: nothing }
  const fact = joined([
    text(isOn ? 'The stop is on.' : 'A stop needs an engine.'),
    governed.link,
    text(`${governed.total === 1 ? 'has' : 'have'} an engine that reports that it enforces.`),
    others.link,
    text(
      others.total === 1
        ? 'has none: nothing is known to block its steps, unless it asks the platform before each step.'
        : 'have none: nothing is known to block their steps, unless they ask the platform before each step.',
    ),
  ])
  return { enforcing: governed.total, warning: alert({ isOn, fact, remedy: remedyOf(visit, true) }) }
}

function remedyOf({ api: { may } }: Visit, isMany: boolean): Html {
  const key = isMany ? 'API keys' : 'API key'
  return joined([
    text(isMany ? 'Stop their processes, revoke their' : 'Stop its process, revoke its'),
    may('get', '/auth/api-keys') ? link(paths.keys(), key) : text(key),
    text(isMany ? 'or start engines.' : 'or start an engine.'),
  ])
}

const alert =
  piece(`<div class="alert {{#if isOn}}alert-danger{{else}}alert-warning{{/if}}" role="alert"><div><strong>{{fact}}</strong> {{remedy}}</div></div>
`)

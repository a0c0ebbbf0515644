// The stops that stop an agent now.
import type { Agent } from '@svc/schemas'
import { paths } from '../../paths.js'
import { decidersOf } from '../../people.js'
import { type Html, link, nothing, piece, time } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { agentGap } from '../stops/engines.js'
import { targetWords } from '../stops/words.js'

/** The section of a page; nothing for an agent that no stop stops. */
export async function stopsOf(visit: Visit, agent: Agent): Promise<Html> {
  const { agent_id, stopped } = agent
  if (stopped !== true) return nothing
  const { stops } = await visit.api.read('stop-list', '/api/v1/stops', { agent_id, limit: '20' })
  if (stops.length === 0) return nothing
  const nameOf = await decidersOf(visit)
  const may = visit.api.may('post', '/api/v1/stops/{id}/resume')
  const gap = agentGap(visit, agent)
  return section({
    gap: gap === nothing ? '' : gap,
    stops: stops.map(({ id, reason, target, created_at, created_by }) => ({
      reason,
      what: targetWords[target.kind],
      by: nameOf(created_by),
      at: time(created_at),
      open: link(paths.stop(id), 'Open the stop'),
      resume: may ? paths.stop(id, { do: 'resume', agent_id }) : '',
    })),
  })
}

const section =
  piece(`<section class="card urgent"><div class="card-header"><h2 class="card-title">{{#if gap}}Stopped, but no engine is known to block its steps{{else}}Stopped: its engine blocks every next step{{/if}}</h2></div>
{{#if gap}}<div class="card-body">{{gap}}</div>{{/if}}<ul class="list-group list-group-flush">{{#each stops}}<li class="list-group-item bar mb-0"><div class="grow"><strong><bdi>{{reason}}</bdi></strong>
<div class="text-secondary">Stops {{what}}. By {{by}}, {{at}}. {{open}}</div></div>{{#if resume}}<a class="btn" href="{{resume}}">Resume…</a>{{/if}}</li>{{/each}}</ul></section>
`)

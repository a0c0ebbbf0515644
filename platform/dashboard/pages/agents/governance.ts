// Whether an agent is governed, since when, and the states of its engines over time.
import type { Agent, AgentGovernance, EngineIntervals } from '@svc/schemas'
import { api } from '../../paths.js'
import {
  badge,
  counted,
  countedOrNone,
  duration,
  type Html,
  hash,
  joined,
  nothing,
  piece,
  text,
  time,
} from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { governance, loadState, reasons, remedies } from './words.js'

/** States of engines that are shown. */
const maxIntervals = 20

/** The section of a page. */
export async function governanceOf({ api: { read } }: Visit, agent: Agent): Promise<Html> {
  const path = api`/api/v1/agents/${agent.agent_id}/engines`
  const found = await read('engine-intervals', path, { limit: String(maxIntervals) })
  const reason = agent.governance?.reason ?? null
  return section({
    state: governance(agent),
    since: sinceOf(agent, found.governance),
    remedy: reason === null ? '' : remedies[reason],
    command: reason === 'no_engine' ? `svc serve --agent-key ${argument(agent.agent_key)}` : '',
    engine: engineOf(agent),
    shares: sharesOf(found.governance),
    gaps: gapsOf(found.governance),
    engines: found.intervals.map(rowOf),
    more: found.intervals.length === maxIntervals ? `The last ${maxIntervals} states are shown.` : '',
  })
}

const section =
  piece(`<section class="card"><div class="card-header"><h2 class="card-title">Governance</h2></div><div class="card-body">
<p class="fs-3 mb-1">{{state}}</p>{{#if since}}<p class="mb-1">{{since}}</p>{{/if}}
{{#if remedy}}<p class="mb-1"><strong>What to do:</strong> {{remedy}}{{#if command}} <code><bdi>{{command}}</bdi></code>{{/if}}</p>{{/if}}{{#if engine}}<p class="text-secondary mb-0">{{engine}}</p>{{/if}}
{{#if shares}}<h3 class="h4 mt-3 mb-1">The last 30 days</h3><ul class="pills mb-0">{{#each shares}}<li>{{this}}</li>{{/each}}</ul>{{/if}}
{{#if gaps}}<details class="mt-2"><summary>{{gaps.count}}</summary><table class="table rows"><thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Reason</th></tr></thead><tbody>
{{#each gaps.rows}}<tr><td data-label="From">{{from}}</td><td data-label="To">{{to}}</td><td data-label="Reason">{{reason}}</td></tr>
{{/each}}</tbody></table>{{#if gaps.more}}<p class="text-secondary mb-0">{{gaps.more}}</p>{{/if}}</details>{{/if}}</div>
{{#if engines}}<table class="table rows"><caption class="visually-hidden">States of the engines, the latest first</caption><thead><tr><th scope="col">Engine</th><th scope="col">Version</th><th scope="col">State</th><th scope="col" class="num">Policies</th><th scope="col">From</th><th scope="col">To</th></tr></thead><tbody>
{{#each engines}}<tr><td data-label="Engine">{{engine}}</td><td data-label="Version">{{version}}</td><td data-label="State">{{state}}</td><td data-label="Policies" class="num">{{policies}}</td><td data-label="From">{{from}}</td><td data-label="To">{{to}}</td></tr>
{{/each}}</tbody></table>{{#if more}}<div class="card-footer">{{more}}</div>{{/if}}{{/if}}</section>
`)

/** An argument of a shell, quoted unless it is plain. */
function argument(value: string): string {
  return /^[\w@.:/-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`
}

/** Since when the present state lasts, if the intervals show it. */
function sinceOf({ governance: now, created_at }: Agent, { from, to, intervals, more }: AgentGovernance): Html {
  if (now === undefined || more > 0 || now.state === 'inactive') return nothing
  if (now.state === 'governed') {
    const last = intervals
      .map((one) => one.to)
      .toSorted()
      .at(-1)
    if (last !== undefined) return joined([text('Governed without a gap since'), time(last)])
    return Date.parse(created_at) > Date.parse(from)
      ? text('Governed without a gap since its registration.')
      : text('Governed without a gap in the last 30 days.')
  }
  const open = intervals.filter((one) => one.to === to && one.reason === now.reason)
  const [first] = open.map((one) => one.from).toSorted()
  if (first === undefined) return nothing
  return first === from ? text('For 30 days or longer.') : joined([text('Since'), time(first)])
}

function engineOf({ engine }: Agent): Html {
  if (engine?.last_seen == null) return nothing
  const policies =
    engine.policy_count === null ? '' : `, ${countedOrNone(engine.policy_count, 'policy', 'policies')} in effect`
  return joined([text(`Engine ${engine.version ?? ''}${policies}, last heartbeat`), time(engine.last_seen)])
}

function sharesOf(governance: AgentGovernance): Html[] {
  const { governed_seconds, ungoverned_seconds, unknown_seconds, idle_seconds } = governance
  const shares = [
    ['governed', governed_seconds, 'green'],
    ['not governed', ungoverned_seconds, 'red'],
    ['not known', unknown_seconds, 'yellow'],
    ['no engine ran', idle_seconds, 'secondary'],
  ] as const
  return shares
    .filter(([, seconds]) => seconds > 0)
    .map(([label, seconds, tone]) => badge(`${label} ${duration(seconds)}`, tone))
}

/** The latest periods in which nothing was enforced; null without one. A period that lasts ends with the time of the request. */
function gapsOf({ to: now, intervals, more }: AgentGovernance) {
  if (intervals.length === 0) return null
  const rows = intervals.toReversed().map(({ from, to, reason }) => ({
    from: time(from),
    to: to === now ? text('now') : time(to),
    reason: reason === 'no_engine' ? 'no engine had reported yet' : reasons[reason],
  }))
  return {
    count: `${counted(intervals.length + more, 'period')} without enforcement`,
    rows,
    more: more === 0 ? '' : `${counted(more, 'later period')} not shown.`,
  }
}

function rowOf(interval: EngineIntervals['intervals'][number]) {
  const { instance_id, version, load_state, policy_count, since, until, unknown_since } = interval
  return {
    engine: hash(instance_id, 8),
    version,
    state: loadState(load_state),
    policies: policy_count,
    from: time(since),
    to: untilOf(until, unknown_since),
  }
}

function untilOf(until: string | null, unknown_since: string | null): Html {
  if (until !== null) return time(until)
  return unknown_since === null ? text('now') : joined([badge('silent', 'yellow'), text('since'), time(unknown_since)])
}

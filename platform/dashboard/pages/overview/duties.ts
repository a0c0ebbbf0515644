// What needs doing now, as cards: each has a number with a link to what it counts, or says that there is nothing to do.
import type { Overview } from '@svc/schemas'
import { paths } from '../../paths.js'
import { type Html, joined, link, number, piece, severity, text, time } from '../../views/html.js'
import type { Visit } from '../../visit.js'

interface Card {
  readonly title: string
  /** A number as a link. */
  readonly count: Html | null
  readonly text: Html
  readonly is_urgent?: true
}

/** The cards. */
export async function duties(visit: Visit, counts: Overview): Promise<Html> {
  const cards = [
    stops(counts),
    openIncidents(counts),
    heldVersions(counts),
    agentsWithoutEngine(counts),
    ungovernedAgents(counts),
    unfinishedTasks(counts),
    log(counts),
    ...(await Promise.all([receivers(visit), jobs(visit)])),
  ]
  return view({ cards: cards.filter((card) => card !== null).map((card) => ({ is_urgent: false, ...card })) })
}

const view =
  piece(`<div class="cards">{{#each cards}}<section class="card{{#if is_urgent}} urgent{{/if}}"><div class="card-body">
<h3 class="h4 mb-1">{{title}}</h3>{{#if count}}<div class="big mb-1">{{count}}</div>{{/if}}<div class="text-secondary">{{text}}</div></div></section>
{{/each}}</div>
`)

const pair = piece('<span class="text-nowrap me-2">{{severity}} {{count}}</span>')

const severities = ['critical', 'high', 'medium', 'low'] as const

function openIncidents({ open_incidents }: Overview): Card {
  const shown = severities.filter((one) => open_incidents[one] > 0)
  const all = shown.reduce((sum, one) => sum + open_incidents[one], 0)
  const pairs = shown.map((one) =>
    pair({
      severity: severity(one),
      count: link(paths.open_incidents({ severity: one }), number(open_incidents[one])),
    }),
  )
  return {
    title: 'Open incidents',
    count: all === 0 ? null : link(paths.open_incidents(), number(all)),
    text: all === 0 ? text('No incident is open or in review.') : joined(pairs),
  }
}

/** Null while no stop stops an agent. */
function stops({ stopped_agents }: Overview): Card | null {
  if (stopped_agents === 0) return null
  return {
    title: 'Agents that are stopped',
    is_urgent: true,
    count: link(paths.agents({ stopped: 'true' }), number(stopped_agents)),
    text: joined([text('A stop is on until a member resumes it:'), link(paths.stops(), 'stops')]),
  }
}

function heldVersions({ held_assignments }: Overview): Card {
  return card('Manifests that wait for an approval', held_assignments, paths.manifests({ held: 'true' }), {
    some: 'A new version takes protection away. The version before it stays in force until a member approves.',
    none: 'No version of a manifest waits for an approval.',
  })
}

function agentsWithoutEngine({ agents_without_engine }: Overview): Card {
  return card('Agents without an engine', agents_without_engine, paths.agents({ engine: 'false' }), {
    some: 'No local engine of theirs reported in the last three minutes. Only steps that ask the platform first are blocked.',
    none: 'An engine of every active agent reported in the last three minutes.',
  })
}

function ungovernedAgents({ ungoverned_agents }: Overview): Card {
  return card('Agents not governed or not known', ungoverned_agents, paths.agents({ governed: 'false' }), {
    some: 'They have no enforced policy, or no engine that reports that it enforces.',
    none: 'Every engine of every active agent reports that it enforces policies.',
  })
}

function unfinishedTasks({ unfinished_tasks }: Overview): Card {
  return card('Tasks without an end', unfinished_tasks, paths.tasks({ unfinished: 'true' }), {
    some: 'Their last step is older than the time limit of tasks, and no step ends them.',
    none: 'No task is past the time limit without a step that ends it.',
  })
}

function card(
  title: string,
  total: number,
  href: string,
  texts: { readonly some: string; readonly none: string },
): Card {
  return total === 0
    ? { title, count: null, text: text(texts.none) }
    : { title, count: link(href, number(total)), text: text(texts.some) }
}

/** The last signed checkpoint, and whether it includes the newest step. */
function log({ checkpoint, newest_step }: Overview): Card {
  const title = 'Signed log'
  if (checkpoint === null) return { title, count: null, text: text('No checkpoint of the log was signed yet.') }
  const { size, published_at } = checkpoint
  const covers = (newest_step ?? -1) < size
  const about = `Entries with a signature. ${covers ? 'The newest step is among them.' : 'Newer steps wait for the next one.'}`
  return {
    title,
    count: link(paths.log(), number(size)),
    text: joined([text(about), text('Signed'), time(published_at)]),
  }
}

/** The actions whose receivers do not answer: their deliveries wait. Null without one. */
async function receivers({ api: { read } }: Visit): Promise<Card | null> {
  const { actions } = await read('action-list', '/api/v1/actions', { enabled: 'true', failing: 'true', limit: '200' })
  if (actions.length === 0) return null
  const names = actions.map(({ id, name }) => link(paths.action(id), name))
  return {
    title: 'Alerts without a receiver',
    count: null,
    text: joined([text('Deliveries wait until the receiver answers:'), joined(names, ', ')]),
  }
}

const jobs_path = '/api/v1/jobs'

/** For those who may read the jobs of the platform: those whose last run failed. Null without one. */
async function jobs({ api: { read, may } }: Visit): Promise<Card | null> {
  if (!may('get', jobs_path)) return null
  const { jobs: all } = await read('job-list', jobs_path)
  const failing = all.filter(
    ({ last_failed_at, last_completed_at }) => last_failed_at !== null && last_failed_at > (last_completed_at ?? ''),
  )
  if (failing.length === 0) return null
  const names = failing.map(({ name }) => name).join(', ')
  return {
    title: 'Failing jobs',
    count: link(jobs_path, number(failing.length)),
    text: text(`Their last run failed: ${names}.`),
  }
}

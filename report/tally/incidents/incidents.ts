// The incidents of the report, with their state at the cut-off: those opened in the period or answered in it, and those from before
// it that have no end.
import { countEffects, type Effect } from '@svc/schemas'
import type { IncidentRow } from '../../content/messages.js'
import { type IncidentState, incidentStates, type Severity, severities } from '../../content/report-data.js'
import type { Summary } from '../../content/summary-data.js'
import { addTo, byText } from '../listing.js'
import type { Period } from '../period.js'

export interface IncidentTally {
  agent_id: string | null
  severity: Severity | null
  state: IncidentState
  /** Null for an incident of an earlier version. */
  effect: Effect | null
  /** ms since 1970; null until it is known, for an incident from before the period. */
  opened: number | null
  /** The time by which it counts: that of the step that opened it, or of its opening; null like `opened`. */
  readonly counts_at: number | null
  readonly in_period: boolean
  /** Its moves in the period, by the states that they led to. */
  moves: readonly IncidentState[]
  /** Seconds from the opening; null until then. */
  review: number | null
  resolution: number | null
}

/** The content of the leaf of an opened incident, as far as a report uses it. */
export type OpenedIncident = Omit<IncidentRow, 'id' | 'first_seen'>

export type Incidents = ReturnType<typeof createIncidents>

/** The time at which an incident was opened, and the time by which it counts; ms since 1970. */
export interface OpenedAt {
  readonly opened: number
  readonly counts_at: number
}

/** Of the chosen agents; null for all. `opened` takes each incident once its policy is known. */
export function createIncidents(
  chosen: ReadonlySet<string> | null,
  { placeOf }: Pick<Period, 'placeOf'>,
  opened: (incident: OpenedIncident, tally: IncidentTally) => void,
) {
  const all = new Map<string, IncidentTally>()
  /** Opened in the period; their leaf was erased. */
  const unknown = new Set<string>()
  const isChosen = (agent_id: string) => chosen === null || chosen.has(agent_id)
  const noted = new Map<string, number>()
  const { add, isLater } = createAdder(all, isChosen, placeOf)
  return {
    all,
    note: (id: string) => addTo(noted, id),
    events: () => incidentEvents(all, noted, chosen === null),
    /** An incident from before the period without an end at the cut-off. */
    earlier: (id: string, state: IncidentState) => all.set(id, { ...fresh, state, in_period: false }),
    /** A leaf that opens an incident. One from before the period counts until it has an end. */
    open: (id: string, incident: OpenedIncident, at: OpenedAt) => {
      const tally = add(id, incident.severity, incident.agent_id, at)
      if (tally !== null) opened(incident, tally)
    },
    /** The event of the opening, which stays when the leaf is erased. */
    opening: (id: string, agent_id: string, severity: Severity, at: OpenedAt) => {
      if (add(id, severity, agent_id, at) !== null) unknown.add(id)
    },
    /** A move in the period, or after it and before the cut-off; `by_system`: no member made it. */
    move: (id: string, to: IncidentState, at: number, is_in_period: boolean, by_system: boolean) => {
      const known = all.get(id)
      if ((known === undefined && !is_in_period) || isLater(id)) return
      const incident = known ?? { ...fresh, in_period: false }
      all.set(id, incident)
      incident.state = to
      if (is_in_period) incident.moves = [...incident.moves, to]
      measureMove(incident, to, at, by_system)
    },
    /** The effect at the opening, or a later one before the cut-off. */
    effect: (id: string, effect: Effect | null) => {
      const known = all.get(id)
      if (known !== undefined && effect !== null) known.effect = effect
    },
    /** Forgets incidents from before the period that had an end when it began. Once every entry was read. */
    forgetEnded: () => {
      for (const [id, one] of all) if (!one.in_period && one.moves.length === 0 && !isOpen(one)) all.delete(id)
    },
    wanted: () => [...[...all].filter(([, { in_period }]) => !in_period).map(([id]) => id), ...unknown],
    /** The opening of an incident that `wanted` names. */
    learn: (id: string, incident: OpenedIncident, at: number) => {
      const known = all.get(id)
      if (known === undefined) return
      const { agent_id, severity } = incident
      if (!unknown.delete(id)) Object.assign(known, { agent_id, severity, opened: at })
      if (isChosen(agent_id)) opened(incident, known)
      else all.delete(id)
    },
  }
}

/** The durations until the first review and the first resolution. The system reviews nothing: it resolves what was approved later. */
function measureMove(incident: IncidentTally, to: IncidentState, at: number, by_system: boolean): void {
  if (incident.opened === null) return
  const seconds = Math.max(0, Math.floor((at - incident.opened) / 1000))
  if (!by_system) incident.review ??= seconds
  if (to === 'resolved') incident.resolution ??= seconds
}

/** Adds incidents by the time by which they count: those of the period, and those from before it, of which the state counts. */
function createAdder(
  all: Map<string, IncidentTally>,
  isChosen: (agent_id: string) => boolean,
  placeOf: Period['placeOf'],
) {
  /** Of steps after the period: their moves do not count. */
  const later = new Set<string>()
  return {
    isLater: (id: string) => later.has(id),
    /** The incident if it is of the period and new. */
    add: (id: string, severity: Severity, agent_id: string, at: OpenedAt): IncidentTally | null => {
      if (!isChosen(agent_id) || all.has(id) || later.has(id)) return null
      const place = placeOf(at.counts_at)
      if (place === 'after') later.add(id)
      if (place === 'before') all.set(id, { ...fresh, in_period: false })
      if (place !== 'in') return null
      const tally = { ...fresh, agent_id, severity, ...at, in_period: true }
      all.set(id, tally)
      return tally
    },
  }
}

/** Ids, most important first; without those of which nothing is known, where agents are chosen. */
export function rankedIncidents(all: ReadonlyMap<string, IncidentTally>, has_chosen: boolean): string[] {
  const rank = ({ severity }: IncidentTally) => severities.indexOf(severity ?? 'low')
  const unanswered = ({ state }: IncidentTally) => (state === 'open' ? 0 : 1)
  return [...all]
    .filter(([, { agent_id, in_period }]) => agent_id !== null || in_period || !has_chosen)
    .sort(
      ([a_id, a], [b_id, b]) =>
        rank(a) - rank(b) || unanswered(a) - unanswered(b) || (a.opened ?? 0) - (b.opened ?? 0) || byText(a_id, b_id),
    )
    .map(([id]) => id)
}

/** True if it has no end at the cut-off. */
export const isOpen = ({ state }: Pick<IncidentTally, 'state'>): boolean => state === 'open' || state === 'active'

type IncidentTotals = Pick<Summary, Extract<keyof Summary, `incidents_${string}`>>

const fresh: Omit<IncidentTally, 'in_period'> = {
  agent_id: null,
  severity: null,
  state: 'open',
  effect: null,
  opened: null,
  counts_at: null,
  moves: [],
  review: null,
  resolution: null,
}

/** The numbers of the incidents opened in the period, and of those without an end. */
export function incidentNumbers(all: ReadonlyMap<string, IncidentTally>) {
  const opened = [...all.values()].filter(({ in_period }) => in_period)
  const byPair = new Map<string, { severity: Severity; state: IncidentState; count: number }>()
  for (const { severity, state } of opened) {
    const key = `${severity} ${state}`
    const pair = byPair.get(key) ?? { severity: severity ?? 'low', state, count: 0 }
    byPair.set(key, pair)
    pair.count += 1
  }
  const counts = severities.flatMap((severity) =>
    incidentStates.flatMap((state) => byPair.get(`${severity} ${state}`) ?? []),
  )
  const open = [...all.values()].filter(isOpen)
  const earlier = open.filter(({ in_period }) => !in_period)
  const totals: IncidentTotals = {
    incidents_opened: opened.length,
    incidents_unanswered: opened.filter(({ state }) => state === 'open').length,
    incidents_open: open.length,
    incidents_open_earlier: earlier.length,
    incidents_unanswered_earlier: earlier.filter(({ state }) => state === 'open').length,
  }
  return {
    totals,
    counts,
    effects: countEffects(opened.flatMap(({ effect }) => effect ?? [])),
    time_to_review: durations(opened.flatMap(({ review }) => review ?? [])),
    time_to_resolve: durations(opened.flatMap(({ resolution }) => resolution ?? [])),
  }
}

function durations(seconds: readonly number[]) {
  const sorted = seconds.toSorted((a, b) => a - b)
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? null
  return { count: sorted.length, median_seconds: rank(0.5), p90_seconds: rank(0.9) }
}

/** Events of the period by kind; with notes on incidents of any agent, or on those of the chosen ones. */
function incidentEvents(
  all: ReadonlyMap<string, IncidentTally>,
  noted: ReadonlyMap<string, number>,
  is_any: boolean,
): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [id, notes] of noted) if (is_any || all.has(id)) addTo(counts, 'incident.noted', notes)
  for (const { in_period, moves } of all.values()) {
    if (in_period) addTo(counts, 'incident.opened')
    for (const to of moves) addTo(counts, `incident.${to}`)
  }
  return counts
}

/** An incident in the table of incidents, as its leaf would hold it. */
export function incidentOfRow({ id: _id, first_seen: _at, ...incident }: IncidentRow): OpenedIncident {
  return incident
}

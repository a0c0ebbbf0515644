// An agent and what governs it, in words.
import { lastDayOf } from '@svc/engine/parts'
import type { Agent, Assignment, EngineIntervals, Policy, Stop } from '@svc/schemas'
import { indented, type Screen, short } from './columns.js'
import { table } from './table.js'
import { valuesText } from './values-text.js'

/** The policies and stops of an agent, as the platform knows them. */
export interface GoverningFacts {
  readonly agent: Agent
  readonly policies: readonly Policy[]
  readonly assignments: readonly Assignment[]
  readonly stops: readonly Stop[]
  readonly engines: EngineIntervals['intervals']
  readonly open_incidents: number
}

/** `names`: the addresses of members by id. */
export function agentText(screen: Screen, facts: GoverningFacts, names: ReadonlyMap<string, string>): string[] {
  const { agent, policies, assignments } = facts
  const by_hand = policies.filter(({ manifest_id }) => manifest_id === null)
  const known = new Set(assignments.map(({ manifest_id }) => manifest_id))
  const others = policies.filter(({ manifest_id }) => manifest_id !== null && !known.has(manifest_id))
  return [
    ...table(headRows(facts)),
    '',
    policies.length === 0
      ? 'no policy is in force: every step is allowed'
      : countedPolicies(policies.length, 'in force'),
    ...assignments.flatMap((assignment) => [
      '',
      ...assignmentLines(screen, assignment, names),
      ...policyLines(
        screen,
        policies.filter(({ manifest_id }) => manifest_id === assignment.manifest_id),
      ),
    ]),
    ...(by_hand.length === 0 ? [] : ['', 'written by hand', ...policyLines(screen, by_hand)]),
    ...(others.length === 0 ? [] : ['', `of other manifests of ${agent.agent_key}`, ...policyLines(screen, others)]),
  ]
}

function headRows({ agent, stops, engines, open_incidents }: GoverningFacts): string[][] {
  const { agent_id, agent_key, name, owner_id, purpose, environment, active } = agent
  const { risk_classification: declared, effective_risk_classification: level } = agent
  const incidents = `${open_incidents} open or active${open_incidents > 0 ? `: \`svc incidents --agent ${agent_key}\`` : ''}`
  return [
    ['agent', agent_key === name ? agent_key : `${agent_key}, ${name}`],
    ['id', agent_id],
    ['owner', owner_id ?? '–'],
    ['purpose', purpose ?? '–'],
    ['environment', environment],
    ['level', declared === level ? level : `${level}; it declares ${declared}, which a person must confirm`],
    ['state', active ? 'active' : 'deactivated'],
    ...stops.map((stop) => ['stop', stopText(stop)]),
    ['engine', engineText(engines)],
    ['incidents', incidents],
  ]
}

function stopText({ id, state, created_at, created_by, reason }: Stop): string {
  const resuming = state === 'resuming' ? ', which is lifted in stages and may have ended for this agent' : ''
  return `${id}, since ${minute(created_at)} by ${created_by}${resuming}: ${reason}`
}

/** The engine that reported last. */
function engineText(engines: GoverningFacts['engines']): string {
  const running = engines.filter(({ until, unknown_since }) => until === null && unknown_since === null)
  const [latest] = running.length > 0 ? running : engines
  if (latest === undefined) return 'none has reported'
  const { load_state, policy_count, version, since, until, unknown_since } = latest
  const what = `${load_state.replaceAll('_', ' ')} with ${policy_count} ${policy_count === 1 ? 'policy' : 'policies'}`
  const span = `version ${version}, since ${minute(since)}`
  if (running.length > 1) return `${running.length} run; the latest: ${what}, ${span}`
  if (running.length === 1) return `${what}, ${span}`
  return unknown_since === null
    ? `none runs; the last one stopped at ${minute(until ?? since)}`
    : `silent since ${minute(unknown_since)}; it was ${what}`
}

function assignmentLines(screen: Screen, assignment: Assignment, names: ReadonlyMap<string, string>): string[] {
  const { id, manifest_path, repo_id, status, manifest_sha, commit_sha, assigned_at, assigned_by } = assignment
  const { waivers, skipped, held_sha, ref } = assignment
  const where = repo_id === null ? 'the baseline' : `repository ${repo_id}${ref === null ? '' : `, branch ${ref}`}`
  const { in_force_since, in_force_by } = assignment
  const who = (id: string | null) => (id === null ? 'the platform' : (names.get(id) ?? id))
  const notes = [
    `version ${short(manifest_sha)}, ${commit_sha === null ? 'no commit' : `commit ${short(commit_sha)}`}`,
    ...(in_force_since === null ? [] : [`in force since ${minute(in_force_since)}, ${putBy(in_force_by, who)}`]),
    `assigned at ${minute(assigned_at)}, by ${who(assigned_by)}`,
    ...(held_sha === null ? [] : [`a new version is held: \`svc approve-resync ${id}\` puts it in force`]),
    ...waivers.map(
      ({ policy, waived_until }) =>
        `waiver: \`${policy}\` does not block until the end of ${lastDayOf(waived_until)} (UTC)`,
    ),
    ...(skipped.length === 0 ? [] : [`skipped, for a higher level: ${skipped.join(', ')}`]),
  ]
  return [
    `${manifest_path} of ${where}: assignment ${id}, ${status.replaceAll('_', ' ')}`,
    ...notes.flatMap((note) => indented(screen.svc, note, screen.width)),
  ]
}

/** The actors of the platform that read a branch after a push. */
const readers: ReadonlySet<string> = new Set(['resync', 'webhook'])

function putBy(id: string | null, who: (id: string | null) => string): string {
  if (id === null) return 'by a push or a member'
  return readers.has(id) ? 'by a push to the branch' : `by ${who(id)}`
}

/** Each policy with its values; the strictest severity first. */
function policyLines(screen: Screen, policies: readonly Policy[]): string[] {
  const order = ['critical', 'high', 'medium', 'low']
  return policies
    .toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity) || a.id - b.id)
    .flatMap(({ severity, mode, approval, name, rule_type, params, waived_until }) => {
      const asks = approval ? ', asks' : ''
      const effect = mode === 'observe' ? ', observed' : waived_until ? ', waived' : asks
      return [
        `  ${severity}${effect}  ${name}`,
        ...indented(screen.svc, `${rule_type} ${cut(valuesText(params))}`, screen.width && screen.width - 2).map(
          (line) => `  ${line}`,
        ),
      ]
    })
}

/** Characters of the values of a policy: compound rules have pages of them. */
const maxValues = 240

function cut(text: string): string {
  return text.length > maxValues ? `${text.slice(0, maxValues)}… (\`--json\` has all)` : text
}

function countedPolicies(count: number, what: string): string {
  return count === 1 ? `1 policy is ${what}` : `${count} policies are ${what}`
}

/** A time to the minute. */
export function minute(time: string): string {
  return `${time.slice(0, 16)}Z`
}
